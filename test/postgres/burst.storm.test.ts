import { createPostgresInbox, createPostgresStore } from 'posthorn/postgres';
import { describe, expect, test } from 'vitest';
import { eventAt, openEndpoint } from '../support/open-endpoint.ts';
import { sendTogether } from '../support/send-together.ts';
import { usePostgres } from './fixture.ts';
import { book, createLedger } from './ledger.ts';

const scope = 'burst';
const DELIVERIES = 3_000;
/** How many clients of the ten that a pool has by default somebody else keeps, and for how long. */
const HELD_CLIENTS = 8;
const HELD_MS = 4_000;

describe('a burst', () => {
  const fixture = usePostgres();

  /** A receiver whose store and inbox share a pool of the default size. */
  async function open() {
    const pool = fixture.connect();
    await createLedger(pool);
    const store = createPostgresStore(pool, { scope });
    const inbox = createPostgresInbox(pool, { scope });
    const endpoint = await openEndpoint({ store }, (receiver) => {
      receiver.on(
        'transfer.succeeded',
        inbox.once('book', (event, { transaction }) => book(event, transaction)),
      );
    });
    return { pool, ...endpoint };
  }

  test('of 3,000 deliveries is handled while others keep most clients of the pool', async () => {
    const { pool, url, reports } = await open();
    const events = Array.from({ length: DELIVERIES }, () => eventAt(Date.now()));
    const held = await Promise.all(Array.from({ length: HELD_CLIENTS }, () => pool.connect()));
    const release = (): void => {
      for (const client of held) client.release();
    };
    const answers = await sendTogether(url, events, () => setTimeout(release, HELD_MS));
    const refused = reports.all.filter(({ status }) => status !== 200);
    expect(refused.slice(0, 1)).toEqual([]);
    expect(answers).toEqual(events.map(({ id }) => ({ outcome: 'processed', id })));
    const { rows } = await pool.query(
      'select count(*)::int, count(distinct event_id)::int as events from ledger',
    );
    expect(rows).toEqual([{ count: DELIVERIES, events: DELIVERIES }]);
    // Most of it takes a busy machine to make the connections.
  }, 180_000);

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
