import type { Pool } from 'pg';
import { createPostgresInbox } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { shutGate } from '../../support/gate.ts';
import { ampleDeadlines } from '../../support/limits.ts';
import { openEndpoint } from '../../support/open-endpoint.ts';
import { Seen } from '../../support/seen.ts';
import { throwing } from '../../support/throwing.ts';
import { useDatabase } from './fixture.ts';
import { recordsOf } from './ledger.ts';

describe('latest', () => {
  const fixture = useDatabase();
  const pool = fixture.connect();
  beforeAll(() => pool.query('create table transfers (id text, state text)'));

  /** A receiver whose handler writes the state of a transfer. */
  const open = (work: () => unknown = () => {}, on: Pool = pool) =>
    openEndpoint({ ...ampleDeadlines, maxEventAgeMs: Number.POSITIVE_INFINITY }, (receiver) => {
      receiver.on(
        'transfer.*',
        createPostgresInbox(on, { scope: 'latest-test' }).once(
          'state',
          async ({ data }, { transaction: { query } }) => {
            await query('insert into transfers values ($1, $2)', [data.id, data.state]);
            await work();
          },
          { latest: ({ data }) => data.id },
        ),
      );
    });

  const eventOf = (id: string | undefined, state: string, created_at: string) => ({
    ...createEvent('transfer.updated', { id, state }),
    created_at,
  });

  async function states(id: string): Promise<unknown[]> {
    const { rows } = await pool.query('select state from transfers where id = $1', [id]);
    return rows.map(({ state }) => state);
  }

  test('skips an event that is older than the newest one that was handled, and says so', async () => {
    const { send, reports } = await open();
    const [old, mid, young] = [1, 2, 3].map((n) => eventOf('TR1', `s${n}`, `2026-05-04T03:02:0${n}Z`));
    for (const event of [mid, old, young]) {
      expect(await send(event ?? '')).toMatchObject({ status: 200, body: { outcome: 'processed' } });
    }
    expect(await states('TR1')).toEqual(['s2', 's3']);
    expect(reports.all.map(({ handlers }) => handlers[0]?.skipped)).toEqual([
      undefined,
      'superseded',
      undefined,
    ]);
    expect(await recordsOf(pool, { id: old?.id ?? '' })).toEqual(['state']);
    const again = await open(() => expect.unreachable());
    await again.send(old ?? '');
    expect(again.reports.all[0]?.handlers[0]?.skipped).toBe('handled_before');
  });

  test('keeps the events of each key apart', async () => {
    const { send } = await open();
    await send(eventOf('TR2', 'new', '2026-05-04T03:02:02Z'));
    await send(eventOf('TR3', 'old', '2026-05-04T03:02:01Z'));
    expect(await states('TR3')).toEqual(['old']);
  });

  test.each([
    ['the same instant', '2026-05-04T03:02:01Z', '2026-05-04T05:02:01.000+02:00', ['a', 'b']],
    ['a microsecond later', '2026-05-04T03:02:01.000001Z', '2026-05-04T03:02:01.000002Z', ['a', 'b']],
    ['a microsecond earlier', '2026-05-04T03:02:01.000002Z', '2026-05-04T03:02:01.000001Z', ['a']],
    ['other forms of ISO 8601', '2026-05-04 03:02:01,5', '2026-05-04T03:02:01.49Z', ['a']],
    ['another zone', '2026-05-04T03:02:01Z', '2026-05-04T04:02:00+01:00', ['a']],
  ])('compares %s', async (name, first, second, expected) => {
    const { send } = await open();
    expect((await send(eventOf(name, 'a', first))).status).toBe(200);
    expect((await send(eventOf(name, 'b', second))).status).toBe(200);
    expect(await states(name)).toEqual(expected);
  });

  test('lets an older event run where the newer one has failed', async () => {
    const failing = await open(throwing('no'));
    expect((await failing.send(eventOf('TR4', 'new', '2026-05-04T03:02:02Z'))).status).toBe(500);
    const { send } = await open();
    await send(eventOf('TR4', 'old', '2026-05-04T03:02:01Z'));
    expect(await states('TR4')).toEqual(['old']);
  });

  test.each([
    { running: 'newer', expected: ['first'] },
    { running: 'older', expected: ['first', 'second'] },
  ])('waits for an event of the key that runs: a $running one', async ({ running, expected }) => {
    const gate = shutGate();
    const [first, second] = running === 'newer' ? ['02', '01'] : ['01', '02'];
    const one = await open(() => gate.pass());
    const sent = one.send(eventOf(running, 'first', `2026-05-04T03:02:${first}Z`));
    await gate.held.nth(1);
    const own = fixture.connect({ max: 1 });
    const isReleased = new Seen<true>();
    own.on('release', () => isReleased.add(true));
    const other = await open(() => {}, own);
    const waiting = other.send(eventOf(running, 'second', `2026-05-04T03:02:${second}Z`));
    // It gives its connection back between two looks.
    await isReleased.nth(2);
    gate.open();
    expect([(await sent).status, (await waiting).status]).toEqual([200, 200]);
    expect(await states(running)).toEqual(expected);
  });

  test('fails an attempt without a key', async () => {
    const { send, reports } = await open();
    const event = eventOf(undefined, 'lost', '2026-05-04T03:02:01Z');
    expect((await send(event)).status).toBe(500);
    expect(reports.all[0]?.error?.cause).toMatchObject({
      message: 'latest of the handler "state" must give a text, got undefined',
    });
    expect(await recordsOf(pool, event)).toEqual([]);
  });
});
