import { createPostgresInbox, createPostgresStore } from 'posthorn/postgres';
import { describe, expect, test } from 'vitest';
import { ampleDeadlines } from '../../support/limits.ts';
import { type EndpointOptions, eventAt, openEndpoint } from '../../support/open-endpoint.ts';
import { Seen } from '../../support/seen.ts';
import { sendTogether } from '../../support/send-together.ts';
import { until } from '../../support/until.ts';
import { usePostgres } from './fixture.ts';
import { book, createLedger } from './ledger.ts';

const scope = 'burst';
const DELIVERIES = 3_000;
/**
 * One of so many is booked in a transaction of an inbox: 3,000 transactions would take a busy machine longer
 * than a delivery has. Each keeps its client for as long on any machine.
 */
const DELIVERIES_FOR_A_BOOKING = 4;
const BOOKING_SECONDS = 0.02;
/** The default of the store. */
const COMMAND_TIMEOUT_MS = 2_000;
/** How many clients of the ten that a pool has by default somebody else keeps, and for how long. */
const HELD_CLIENTS = 8;
const HELD_MS = 4_000;

describe('a burst', () => {
  const fixture = usePostgres();

  /** A receiver whose store and inbox share a pool of the default size. */
  async function open(options: EndpointOptions = {}) {
    const run = new Seen<string>();
    const pool = fixture.connect();
    await createLedger(pool);
    const store = createPostgresStore(pool, { scope });
    const inbox = createPostgresInbox(pool, { scope });
    const endpoint = await openEndpoint({ store, ...options }, (receiver) => {
      receiver.on('transfer.created', ({ id }) => run.add(id));
      receiver.on(
        'transfer.succeeded',
        inbox.once('book', async (event, { transaction }) => {
          await book(event, transaction);
          await transaction.query('select pg_sleep($1)', [BOOKING_SECONDS]);
        }),
      );
    });
    return { pool, run, ...endpoint };
  }

  test('of 3,000 deliveries is handled while others keep most clients of the pool', async () => {
    const { pool, run, url, reports } = await open(ampleDeadlines);
    const events = Array.from({ length: DELIVERIES }, (_, index) =>
      index % DELIVERIES_FOR_A_BOOKING === 0
        ? eventAt(Date.now())
        : { ...eventAt(Date.now()), type: 'transfer.created' },
    );
    const held = await Promise.all(Array.from({ length: HELD_CLIENTS }, () => pool.connect()));
    const release = async (): Promise<void> => {
      const begunAt = performance.now();
      await until('the clients were kept long enough', () => performance.now() - begunAt > HELD_MS);
      for (const client of held) client.release();
    };
    const answers = await sendTogether(url, events, () => void release());
    const refused = reports.all.filter(({ status }) => status !== 200);
    expect(refused.slice(0, 1)).toEqual([]);
    expect(answers).toEqual(events.map(({ id }) => ({ outcome: 'processed', id })));
    // A delivery without a transaction waits for the store alone.
    const waits = reports.all.filter(({ event }) => event?.type === 'transfer.created');
    expect(Math.max(...waits.map(({ durationMs }) => durationMs))).toBeGreaterThan(COMMAND_TIMEOUT_MS);
    const { rows } = await pool.query(
      'select count(*)::int, count(distinct event_id)::int as events from ledger',
    );
    const booked = DELIVERIES / DELIVERIES_FOR_A_BOOKING;
    expect(rows).toEqual([{ count: booked, events: booked }]);
    expect([run.all.length, new Set(run.all).size]).toEqual(Array(2).fill(DELIVERIES - booked));
  });

  test('at a frozen server is refused after commandTimeoutMs', async () => {
    const { url, send } = await open();
    expect((await send(eventAt(Date.now()))).status).toBe(200);
    fixture.postgres.freeze();
    const startedAt = performance.now();
    const answers = await sendTogether(
      url,
      Array.from({ length: 100 }, () => eventAt(Date.now())),
    );
    const durationMs = performance.now() - startedAt;
    fixture.postgres.thaw();
    for (const answer of answers) expect(answer).toMatchObject({ status: 503, code: 'store_unavailable' });
    // A claim is looked at again after two seconds more at the most; in a burst it may wait for 18.
    expect(durationMs).toBeLessThan(8_000);
  });
});
