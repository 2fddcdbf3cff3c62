import { createMemoryStore, type DeadLetter, type Store } from 'posthorn';
import { createPostgresInbox } from 'posthorn/postgres';
import { beforeAll, describe, expect, test } from 'vitest';
import { ampleDeadlines } from '../../support/limits.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { type EndpointOptions, eventAt, openEndpoint, sendNew } from '../../support/open-endpoint.ts';
import { MINUTE_MS } from '../../support/step-clock.ts';
import { useDatabase } from './fixture.ts';
import { book, bookings, createLedger, recordsOf } from './ledger.ts';

describe('an inbox and what else remembers an event', () => {
  const fixture = useDatabase();
  const pool = fixture.connect();
  const inbox = () => createPostgresInbox(pool, { scope: 'inbox-test' });
  beforeAll(() => createLedger(pool));

  /** A receiver with the handler `book` of an inbox, and perhaps others. */
  const open = (options: EndpointOptions, others: { readonly [name: string]: () => unknown } = {}) =>
    openEndpoint({ ...ampleDeadlines, ...options }, (receiver) => {
      receiver.on(
        'transfer.*',
        inbox().once('book', (event, { transaction }) => book(event, transaction)),
      );
      for (const [name, handler] of Object.entries(others)) receiver.on('transfer.*', handler, { name });
    });

  const fail = (): void => {
    throw new Error('no');
  };

  /** A store that forgets which handlers have finished. */
  function forgetful(): Store {
    const memory = createMemoryStore();
    return {
      claim: (request) => memory.claim(request),
      renew: (request) => memory.renew(request),
      complete: (request) => memory.complete(request),
      release: (request) => memory.release({ ...request, handled: [] }),
    };
  }

  test('is not asked where the store knows that its handler has finished', async () => {
    let fails = true;
    const { send, reports } = await open({}, { mail: () => (fails ? fail() : undefined) });
    const event = await sendNew(send, 500);
    fails = false;
    expect((await send(event)).status).toBe(200);
    expect(reports.all.map(({ handlers }) => handlers.map(({ name, ok }) => [name, ok]))).toEqual([
      expect.arrayContaining([
        ['book', true],
        ['mail', false],
      ]),
      [['mail', true]],
    ]);
    expect(await bookings(pool, event)).toBe(1);
  });

  test('finds its row where the store has forgotten it', async () => {
    let fails = true;
    const { send, reports } = await open(
      { store: forgetful() },
      { mail: () => (fails ? fail() : undefined) },
    );
    const event = await sendNew(send, 500);
    fails = false;
    expect((await send(event)).status).toBe(200);
    expect(reports.all[1]?.handlers).toContainEqual(
      expect.objectContaining({ name: 'book', ok: true, skipped: 'handled_before' }),
    );
    expect(await bookings(pool, event)).toBe(1);
  });

  test('keeps its rows when another handler of the event fails, and by handler', async () => {
    const { send } = await openEndpoint(ampleDeadlines, (receiver) => {
      const shared = inbox();
      receiver.on(
        'transfer.*',
        shared.once('book', (event, { transaction }) => book(event, transaction)),
      );
      receiver.on('transfer.*', shared.once('fails', fail));
      receiver.on(
        'transfer.*',
        shared.once('also', () => {}),
      );
    });
    const event = await sendNew(send, 500);
    expect(await recordsOf(pool, event)).toEqual(['also', 'book']);
  });

  test('takes the letter of a last attempt out that its row shows to be handled', async () => {
    const event = eventAt(Date.now() - 20 * MINUTE_MS);
    await (await open({})).send(event);
    const letters = new Map<string, DeadLetter>();
    const put: string[] = [];
    const deadLetters = createMapDeadLetters(letters);
    const { send, reports } = await open({
      deadLetters: {
        ...deadLetters,
        put: async (letter) => {
          put.push(letter.reason);
          await deadLetters.put(letter);
        },
      },
    });
    expect((await send(event)).status).toBe(200);
    expect(reports.all[0]).toMatchObject({ outcome: 'processed', final: true });
    expect(reports.all[0]?.handlers).toMatchObject([{ skipped: 'handled_before' }]);
    expect([put, letters.size]).toEqual([['run_abandoned'], 0]);
    expect(await bookings(pool, event)).toBe(1);
  });

  test('books a parked event when its letter is replayed, and once only', async () => {
    const letters = new Map<string, DeadLetter>();
    let fails = true;
    const deadLetters = createMapDeadLetters(letters);
    const options = { store: forgetful(), deadLetters };
    const { send, receiver } = await openEndpoint({ ...ampleDeadlines, ...options }, (one) => {
      one.on(
        'transfer.*',
        inbox().once('book', async (event, { transaction }) => {
          await book(event, transaction);
          if (fails) fail();
        }),
      );
    });
    const event = eventAt(Date.now() - 20 * MINUTE_MS);
    expect(await send(event)).toMatchObject({ status: 200, body: { outcome: 'parked' } });
    expect(await bookings(pool, event)).toBe(0);
    const [letter] = letters.values();
    if (letter === undefined) throw new Error('no letter');
    fails = false;
    expect(await receiver.replay(letter)).toMatchObject({ outcome: 'processed', handlers: [{ ok: true }] });
    expect([await bookings(pool, event), letters.size]).toEqual([1, 0]);

    // A copy of the letter, replayed where nothing but the inbox remembers the event.
    const { receiver: other } = await open({ store: createMemoryStore(), deadLetters });
    expect((await other.replay(letter)).handlers).toMatchObject([{ ok: true, skipped: 'handled_before' }]);
    expect(await bookings(pool, event)).toBe(1);
  });

  test('runs a letter that was dropped not at all, and leaves no row of it', async () => {
    const deadLetters = createMapDeadLetters();
    const { send, receiver } = await openEndpoint({ ...ampleDeadlines, deadLetters }, (one) => {
      one.on('transfer.*', inbox().once('book', fail));
    });
    const event = eventAt(Date.now() - 20 * MINUTE_MS);
    await send(event);
    const letter = await deadLetters.get(event.id);
    if (letter === undefined) throw new Error('no letter');
    expect(await receiver.drop(letter)).toBe(true);
    expect(await send(event)).toMatchObject({ body: { outcome: 'duplicate' } });
    expect(await recordsOf(pool, event)).toEqual([]);
  });
});
