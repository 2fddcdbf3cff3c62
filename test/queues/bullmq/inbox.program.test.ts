import type { Pool } from 'pg';
import { createMemoryStore, PermanentError, type Receiver } from 'posthorn';
import { createPostgresInbox, type PostgresTransaction } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { useDatabase } from '../../stores/postgres/fixture.ts';
import {
  bookings,
  createLedger,
  book as insertBooking,
  recordsOf,
  tracesOf,
} from '../../stores/postgres/ledger.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { enqueue, openQueueAt } from './queue-fixture.ts';
import { queueServers } from './queue-servers.ts';

describe.each(queueServers)('a worker with an inbox, of a queue in $name', ({ useServer }) => {
  const server = useServer();
  const database = useDatabase();
  const pool = database.connect();
  beforeAll(() => createLedger(pool));

  /** Registers the queued handler "book" of an inbox, which runs `then` after its insert. */
  const bookInInbox =
    (then: (transaction: PostgresTransaction) => unknown = () => {}, ownPool: Pool = pool) =>
    (receiver: Receiver): unknown =>
      receiver.on(
        'transfer.*',
        createPostgresInbox(ownPool, { scope: 'queue-test' }).once('book', async (event, { transaction }) => {
          await insertBooking(event, transaction);
          await then(transaction);
        }),
        { queue: true },
      );

  test('runs the handler once, also when store and queue have forgotten the event', async () => {
    const { bull, receiver, reports, worker } = await openQueueAt(server);
    const event = createEvent('transfer.succeeded');
    for (const [run, skipped] of [
      [1, undefined],
      [2, 'handled_before'],
    ] as const) {
      const running = receiver(bookInInbox(), { store: createMemoryStore() });
      const working = worker(running);
      expect(await running.receive(deliveryOf(event))).toMatchObject({ status: 202 });
      const report = await reports.nth(run, ({ outcome }) => outcome === 'processed');
      expect(report.handlers.map((one) => [one.name, one.ok, one.skipped])).toEqual([
        ['book', true, skipped],
      ]);
      await expect.poll(() => bull.getJobCountByTypes('waiting', 'active', 'delayed')).toBe(0);
      await working.close();
    }
    expect(await bookings(pool, event)).toBe(1);
  });

  test('keeps nothing of attempts that fail, and takes the letter of the last one out', async () => {
    const { bull, letters, promote, receiver, reports, worker } = await openQueueAt(server);
    const letterOfCall: boolean[] = [];
    const running = receiver(
      bookInInbox(() => {
        letterOfCall.push(letters.has(event.id));
        if (!letters.has(event.id)) throw new Error('not yet');
      }),
    );
    const event = await enqueue(running);
    worker(running);
    for (let attempt = 1; attempt < 10; attempt += 1) {
      await reports.nth(attempt, ({ outcome }) => outcome === 'failed');
      await expect.poll(() => bull.getDelayedCount()).toBe(1);
      await promote();
    }
    expect(await reports.first(({ outcome }) => outcome === 'processed')).toMatchObject({
      attempt: 10,
      final: true,
    });
    expect(letterOfCall).toEqual([...Array(9).fill(false), true]);
    expect(letters.size).toBe(0);
    expect(await tracesOf(pool, event)).toEqual([1, ['book']]);
  });

  test('keeps nothing of an event that is parked, and books it once when its letter is replayed', async () => {
    const { deadLetters, receiver, reports, worker } = await openQueueAt(server);
    let isMended = false;
    const register = bookInInbox(() => {
      if (!isMended) throw new PermanentError('no such account');
    });
    const running = receiver(register);
    worker(running);
    const event = await enqueue(running);
    // The claim is free by then: a replay beside the run would leave the letter.
    await reports.first(({ outcome }) => outcome === 'parked');
    expect(await deadLetters.get(event.id)).toMatchObject({ attempts: 1 });
    expect(await tracesOf(pool, event)).toEqual([0, []]);
    const letter = await deadLetters.get(event.id);
    if (letter === undefined) throw new Error('no letter');
    isMended = true;
    expect(await running.replay(letter)).toMatchObject({ outcome: 'processed', handlers: [{ ok: true }] });

    // A copy of the letter, replayed where nothing but the inbox remembers the event.
    const other = receiver(register, { store: createMemoryStore() });
    expect((await other.replay(letter)).handlers).toMatchObject([{ ok: true, skipped: 'handled_before' }]);
    expect(await bookings(pool, event)).toBe(1);
  });

  test('counts an attempt for which PostgreSQL gives no transaction', async () => {
    const { bull, receiver, worker } = await openQueueAt(server);
    const running = receiver(bookInInbox(() => {}, database.connect({ port: 1 })));
    worker(running);
    await running.receive(deliveryOf(createEvent('transfer.succeeded')));
    await expect
      .poll(() => bull.getDelayed())
      .toMatchObject([
        { attemptsMade: 1, failedReason: expect.stringContaining('the inbox could not begin the handler') },
      ]);
  });

  test('lets a handler stand still for 30 seconds, however long it may run', async () => {
    const { receiver, reports, worker } = await openQueueAt(server);
    const limits: unknown[] = [];
    const running = receiver(
      bookInInbox(async ({ query }) => {
        limits.push((await query('show idle_in_transaction_session_timeout')).rows);
      }),
    );
    worker(running);
    await running.receive(deliveryOf(createEvent('transfer.succeeded')));
    await reports.first(({ outcome }) => outcome === 'processed');
    expect(limits).toEqual([[{ idle_in_transaction_session_timeout: '30s' }]]);
  });

  test('keeps the records of handlers before the answer and in a worker apart', async () => {
    const { receiver, reports, worker } = await openQueueAt(server);
    const inbox = createPostgresInbox(pool, { scope: 'queue-test' });
    const running = receiver((one) =>
      one
        .on(
          'transfer.*',
          inbox.once('first', () => {}),
        )
        .on(
          'transfer.*',
          inbox.once('second', () => {}),
          { queue: true },
        ),
    );
    const event = await enqueue(running);
    expect(await recordsOf(pool, event)).toEqual(['first']);
    worker(running);
    await reports.first(({ outcome }) => outcome === 'processed');
    expect(await recordsOf(pool, event)).toEqual(['first', 'second']);
  });
});
