import { createMemoryStore, createReceiver, type DeadLetter, type DeadLetters, type Store } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { deliveryOf } from '../../../support/delivery-of.ts';
import { fakeTime, passUntil } from '../../../support/fake-time.ts';
import { shutGate } from '../../../support/gate.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import type { EndpointOptions } from '../../../support/open-endpoint.ts';
import { KEY } from '../../../support/served.ts';
import { ListQueue } from '../../queue/list-queue.ts';
import { dropsAndReplays, letterAt } from './drop-or-replay.ts';

const HOUR_MS = 3_600_000;

/** A process that may handle an event, and a letter of it. */
async function openWithLetter(options: EndpointOptions = {}) {
  const held = new HeldHandler();
  const letters = new Map<string, DeadLetter>();
  const deadLetters = createMapDeadLetters(letters);
  const store = createMemoryStore();
  const settings = { signingKey: KEY, store, deadLetters, ...options };
  const start = () =>
    createReceiver(settings)
      .on('transfer.*', held.handle)
      .observe(() => {});
  const letter = letterAt(Date.now());
  letters.set(letter.id, letter);
  const claim = (id = letter.id) =>
    settings.store.claim({ id, token: 'another', leaseMs: HOUR_MS, retentionMs: HOUR_MS });
  return { claim, deadLetters, held, letter, letters, receiver: start(), start, store };
}

describe('a drop', () => {
  test.each(['the same process', 'another process'])(
    'while %s replays the letter is refused',
    async (where) => {
      const { held, letter, letters, receiver, start } = await openWithLetter();
      const replayed = (where === 'another process' ? start() : receiver).replay(letter);
      const call = await held.calls.nth(1);
      letters.set(letter.id, letter); // Not marked as running, as under a clock that is ahead.
      expect(await receiver.drop(letter)).toBe(false);
      expect(letters.has(letter.id)).toBe(true);
      expect(call.context.signal.aborted).toBe(false);
      call.succeed();
      expect(await replayed).toMatchObject({ outcome: 'processed' });
      expect(letters.size).toBe(0);
    },
  );

  test('while a run without a claim has the event is refused', async () => {
    const store = createMemoryStore();
    let isAway = true;
    const claim: Store['claim'] = (request) => {
      if (isAway) throw new Error('ECONNREFUSED');
      return store.claim(request);
    };
    const options = { store: { ...store, claim }, onStoreFailure: 'process' } as const;
    const { held, letter, letters, receiver } = await openWithLetter(options);
    const replayed = receiver.replay(letter);
    const call = await held.calls.nth(1);
    isAway = false;
    letters.set(letter.id, letter);
    expect(await receiver.drop(letter)).toBe(false);
    call.succeed();
    expect(await replayed).toMatchObject({ outcome: 'processed' });
  });

  test('by a copy of the letter from before a last attempt began is refused, and claims nothing', async () => {
    const { claim, letter, letters, receiver } = await openWithLetter();
    letters.set(letter.id, { ...letter, runningUntil: Date.now() + HOUR_MS });
    expect(await receiver.drop(letter)).toBe(false);
    expect(letters.size).toBe(1);
    expect(await claim()).toMatchObject({ state: 'claimed', attempt: 1 });
  });

  test('of an event that was handled meanwhile is false, and takes the letter out', async () => {
    const { letter, letters, receiver, store } = await openWithLetter();
    await store.complete({ id: letter.id, token: 'elsewhere', retentionMs: HOUR_MS });
    expect(await receiver.drop(letter)).toBe(false);
    expect(letters.size).toBe(0);
  });

  test('of an event that was handled here, which the store does not know yet, is false', async () => {
    const memory = createMemoryStore();
    const complete = () => Promise.reject(new Error('ECONNREFUSED'));
    const store = { ...memory, complete, commandTimeoutMs: 20 };
    const { held, letter, letters, receiver } = await openWithLetter({ store });
    const replayed = receiver.replay(letter);
    (await held.calls.nth(1)).succeed();
    expect(await replayed).toMatchObject({ outcome: 'processed' });
    letters.set(letter.id, letter);
    expect(await receiver.drop(letter)).toBe(false);
    expect(letters.size).toBe(0);
  });

  test.each(['claim', 'complete'] as const)(
    'throws where the store gives no answer to %s; the letter stays, and can be replayed',
    async (operation) => {
      const memory = createMemoryStore();
      let isAway = true;
      // The command runs, and its answer is lost. A completion is not: it would be the end of the event.
      const store: Store = {
        ...memory,
        [operation]: (request: Parameters<Store['claim']>[0]) => {
          if (isAway && operation === 'claim') memory.claim(request);
          return isAway ? Promise.reject(new Error('ECONNRESET')) : memory[operation](request);
        },
      };
      const options = { store, onStoreFailure: 'process' } as const;
      const { held, letter, letters, receiver } = await openWithLetter(options);
      await expect(receiver.drop(letter)).rejects.toMatchObject({ code: 'store_unavailable' });
      expect([...letters.values()]).toEqual([letter]);
      isAway = false;
      const replayed = receiver.replay(letter);
      (await held.calls.nth(1)).succeed();
      expect(await replayed).toMatchObject({ outcome: 'processed', warnings: [] });
    },
  );

  test('of a letter that somebody takes out before the id is claimed leaves the event alone', async () => {
    const { claim, letter, letters, deadLetters, store } = await openWithLetter();
    const reads: DeadLetters = {
      ...deadLetters,
      get: async (id) => {
        const found = letters.get(id);
        letters.delete(id);
        return found;
      },
    };
    const receiver = createReceiver({ signingKey: KEY, store, deadLetters: reads }).on('*', () => {});
    expect(await receiver.drop(letter)).toBe(false);
    expect(await claim()).toMatchObject({ state: 'claimed', abandoned: 0 });
  });

  test('whose claim is lost before the completion is refused: another process may have run the event', async () => {
    const memory = createMemoryStore();
    const { letter, letters, receiver } = await openWithLetter({
      leaseMs: 1,
      store: { ...memory, renew: async () => ({ state: 'lost' }) },
    });
    const read = letters.get.bind(letters);
    let reads = 0;
    letters.get = (id) => {
      reads += 1;
      const endsAt = performance.now() + 5;
      while (reads === 2 && performance.now() < endsAt); // The event loop is blocked for longer than the lease.
      return read(id);
    };
    expect(await receiver.drop(letter)).toBe(false);
    expect(letters.size).toBe(1);
    expect(memory.claim({ id: letter.id, token: 'b', leaseMs: 1, retentionMs: HOUR_MS })).toMatchObject({
      state: 'claimed',
    });
  });

  test('is awaited by close()', async () => {
    const memory = createMemoryStore();
    const gate = shutGate();
    const complete: Store['complete'] = async (request) => {
      await gate.pass();
      return memory.complete(request);
    };
    const store = { ...memory, complete, commandTimeoutMs: 20_000 };
    const { letter, receiver } = await openWithLetter({ store });
    const ended: string[] = [];
    const dropped = receiver.drop(letter).then(() => ended.push('drop'));
    await gate.held.nth(1);
    const closed = receiver.close().then(() => ended.push('close'));
    gate.open();
    await Promise.all([dropped, closed]);
    expect(ended).toEqual(['drop', 'close']);
  });
});

describe('with a queue, a drop', () => {
  async function openQueued() {
    const queue = new ListQueue();
    const opened = await openWithLetter({ queue });
    const { letter, receiver } = opened;
    receiver.on('transfer.*', () => {}, { name: 'book', queue: true });
    return { ...opened, queue, delivery: deliveryOf(letter.rawBody) };
  }

  test('is refused while the handlers before the answer run', async () => {
    const { delivery, held, letter, letters, queue, receiver } = await openQueued();
    const replied = receiver.receive(delivery);
    const call = await held.calls.nth(1);
    expect(await receiver.drop(letter)).toBe(false);
    expect(letters.size).toBe(1);
    call.succeed();
    expect(await replied).toMatchObject({ status: 202 });
    expect(queue.jobs).toHaveLength(1);
  });

  test('is refused while another process runs these handlers', async () => {
    const { claim, letter, letters, receiver } = await openQueued();
    await claim(`accepted:${letter.id}`);
    expect(await receiver.drop(letter)).toBe(false);
    expect(letters.size).toBe(1);
  });

  test('is refused while a worker runs the event, and leaves its acceptance as it was', async () => {
    const { claim, delivery, held, letter, letters, receiver } = await openQueued();
    await claim();
    expect(await receiver.drop(letter)).toBe(false);
    expect(letters.size).toBe(1);
    const replied = receiver.receive(delivery);
    (await held.calls.nth(1)).succeed();
    expect(await replied).toMatchObject({ status: 202 });
  });

  test('of an event that was never accepted keeps its delivery from every handler', async () => {
    const { delivery, held, letter, queue, receiver } = await openQueued();
    expect(await receiver.drop(letter)).toBe(true);
    expect(await receiver.receive(delivery)).toMatchObject({ status: 200 });
    expect([held.calls.all, queue.jobs]).toEqual([[], []]);
  });

  test('of an event that was accepted gives it up: neither a delivery nor its job runs it', async () => {
    const { delivery, held, letter, letters, queue, receiver } = await openQueued();
    const replied = receiver.receive(delivery);
    (await held.calls.nth(1)).succeed();
    await replied;
    expect(await receiver.drop(letter)).toBe(true);
    expect(letters.size).toBe(0);
    expect(await receiver.receive(delivery)).toMatchObject({ status: 200 });
    expect(await receiver.dispatch(queue.take(), { attempt: 1, final: false })).toMatchObject({
      outcome: 'duplicate',
    });
    expect(held.calls.all).toHaveLength(1);
  });
});

describe('of a drop and a replay at once exactly one tells that it has the event,', () => {
  for (const { name, run } of dropsAndReplays) {
    test(`${name}, in 80 rounds`, async () => {
      await passUntil(fakeTime(), run(80));
    });
  }
});
