import type { DeadLetters } from 'posthorn';
import { createMemoryStore, DeadLetterError } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { pause } from '../../src/receiver/timing/process-clock.ts';
import { fakeTime, passUntil } from '../support/fake-time.ts';
import { HeldHandler } from '../support/held-handler.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { throwing } from '../support/throwing.ts';
import { type Answer, fetchOperator } from './mounts.ts';
import { createOperated, idOf, letter, letters, NOW } from './operated.ts';

const REPLAY = '/api/dead-letters/replay';
const all = { selection: {} };

describe('a deed after 20 seconds', () => {
  test('begins with no further dead letter, and what runs goes on', async () => {
    const pass = fakeTime();
    const handle = () => pause(8_000);
    const { handled, left, receiver } = createOperated({ parked: letters(5), handle });
    const startedAt = performance.now();
    const answer = await passUntil(pass, fetchOperator(receiver)(REPLAY, { body: all }));
    const tookMs = performance.now() - startedAt;
    expect(tookMs).toBeGreaterThanOrEqual(20_000);
    expect(tookMs).toBeLessThan(20_500);
    expect(answer.body).toMatchObject({
      results: [
        { id: idOf(1), outcome: 'processed' },
        { id: idOf(2), outcome: 'processed' },
        { id: idOf(3), outcome: 'running' },
      ],
      next: { selection: { until: NOW }, after: idOf(3) },
    });
    expect([...left.keys()]).toEqual([3, 4, 5].map(idOf));
    await pass(5_000);
    expect(handled).toEqual([1, 2, 3].map(idOf));
    expect([...left.keys()]).toEqual([4, 5].map(idOf));
  });

  test('counts the time of audit', async () => {
    const pass = fakeTime();
    const handle = () => pause(8_000);
    const { receiver } = createOperated({ parked: letters(5), handle });
    const ask = fetchOperator(receiver, { audit: () => pause(4_900) });
    const answer = await passUntil(pass, ask(REPLAY, { body: all }));
    expect(answer.body.results?.map(({ outcome }) => outcome)).toEqual(['processed', 'running']);
    await pass(8_000);
  });
});

describe('a request whose operator has gone', () => {
  test('stops the deed before the next dead letter', async () => {
    const held = new HeldHandler();
    const { handled, left, receiver } = createOperated({ parked: letters(3), handle: held.handle });
    const controller = new AbortController();
    const asked = fetchOperator(receiver)(REPLAY, { body: all, signal: controller.signal });
    const call = await held.calls.nth(1);
    controller.abort();
    expect(call.context.signal.aborted).toBe(false);
    call.succeed();
    expect((await asked).body).toMatchObject({
      results: [{ outcome: 'processed' }],
      next: { after: idOf(1) },
    });
    expect(handled).toEqual([idOf(1)]);
    expect(left.size).toBe(2);
  });
});

describe('a server that is away', () => {
  test('stops a deed, and the next request begins with the dead letter that was not reached', async () => {
    let gets = 0;
    const map = createMapDeadLetters(new Map(letters(5).map((one) => [one.id, one])));
    const get: DeadLetters['get'] = (id) => {
      gets += 1;
      if (gets === 3) throw new DeadLetterError('dead_letters_unavailable', 'the server is away');
      return map.get(id);
    };
    const { handled, receiver } = createOperated({ deadLetters: { ...map, get } });
    const ask = fetchOperator(receiver);
    const body = { ids: [1, 2, 3, 4, 5].map(idOf) };
    const answer = await ask('/api/dead-letters/drop', { body });
    expect(handled).toEqual([]);
    expect(answer.status).toBe(200);
    expect(answer.body.results?.map(({ outcome }) => outcome)).not.toContain('failed');
    expect(answer.body).toMatchObject({
      stopped: { code: 'dead_letters_unavailable', message: 'the server is away' },
    });
    const done = answer.body.results?.length ?? 0;
    expect(done).toBeLessThan(3);
    expect(answer.body).toMatchObject({ stopped: { id: body.ids[done] } });
    expect(answer.body.next).toEqual({ ids: body.ids.slice(done) });
    const rest = await ask('/api/dead-letters/drop', { body: answer.body.next });
    expect(rest.body.results).toHaveLength(5 - done);
  });

  test('stops a deed on a selection at its first dead letter', async () => {
    const store = { ...createMemoryStore(), claim: throwing('away') };
    const { left, receiver } = createOperated({ parked: letters(3), store });
    const answer = await fetchOperator(receiver)(REPLAY, { body: { ...all, after: idOf(1) } });
    expect(answer.body).toMatchObject({
      results: [],
      stopped: { id: idOf(2), code: 'store_unavailable' },
      next: { selection: { until: NOW }, after: idOf(1) },
    });
    expect(left.size).toBe(3);
  });

  test('is a problem if no dead letter can be listed', async () => {
    const list = throwing(new DeadLetterError('dead_letters_unavailable', 'the server is away'));
    const ask = fetchOperator(createOperated({ deadLetters: { ...createMapDeadLetters(), list } }).receiver);
    for (const body of [all, { ...all, dryRun: true }])
      expect(await ask(REPLAY, { body })).toMatchObject({
        status: 503,
        body: { code: 'dead_letters_unavailable' },
      });
  });

  test('ends a deed of a receiver that is closing', async () => {
    const { handled, receiver } = createOperated({ parked: letters(2) });
    await receiver.close();
    const answer = await fetchOperator(receiver)(REPLAY, { body: all });
    expect(answer.body).toMatchObject({ results: [], stopped: { id: idOf(1), code: 'closing' } });
    expect(handled).toEqual([]);
  });
});

describe('a search among dead letters that are read slowly', () => {
  /** Reads one in 0.9 seconds; only the last of 40 is of a dispute. */
  function openSlow() {
    const parked = [...letters(39), letter(40, { type: 'dispute.won' })];
    const map = createMapDeadLetters(new Map(parked.map((one) => [one.id, one])));
    const deadLetters: DeadLetters = {
      ...map,
      async *list(options) {
        for await (const one of map.list(options)) {
          await pause(900);
          yield one;
        }
      },
    };
    const { handled, receiver } = createOperated({ deadLetters });
    return { ask: fetchOperator(receiver), handled };
  }

  test('ends a page after two seconds, perhaps before it is full', async () => {
    const pass = fakeTime();
    const { ask } = openSlow();
    const page = await passUntil(pass, ask('/api/dead-letters?type=dispute.*'));
    expect(page.body).toEqual({ deadLetters: [], after: idOf(3) });
  });

  test('ends a deed after ten seconds, and the next request goes on', async () => {
    const pass = fakeTime();
    const { ask, handled } = openSlow();
    let next: object | undefined = { selection: { type: 'dispute.*' } };
    const places: unknown[] = [];
    while (next !== undefined) {
      const answer: Answer = await passUntil(pass, ask(REPLAY, { body: next }));
      next = answer.body.next;
      places.push(next);
    }
    const selection = { type: 'dispute.*', until: NOW };
    expect(places).toEqual([
      ...[12, 24, 36].map((n) => ({ selection, after: idOf(n), parkedAt: letter(n).parkedAt })),
      undefined,
    ]);
    expect(handled).toEqual([idOf(40)]);
  });

  test('ends a dry run after 20 seconds', async () => {
    const pass = fakeTime();
    const { ask } = openSlow();
    const answer = await passUntil(pass, ask(REPLAY, { body: { ...all, dryRun: true } }));
    expect(answer.body).toMatchObject({
      count: 23,
      next: { selection: { until: NOW }, after: idOf(23), dryRun: true },
    });
  });

  test('ends a dry run of ids after 20 seconds: what is left is a dry run too, each id once', async () => {
    const pass = fakeTime();
    const parked = letters(40);
    const map = createMapDeadLetters(new Map(parked.map((one) => [one.id, one])));
    const get: DeadLetters['get'] = async (id) => {
      await pause(900);
      return map.get(id);
    };
    const { handled, receiver } = createOperated({ deadLetters: { ...map, get } });
    const ids = parked.map(({ id }) => id);
    for (const deed of ['replay', 'drop']) {
      const body = { ids: [...ids, ...ids], dryRun: true };
      const asked = fetchOperator(receiver)(`/api/dead-letters/${deed}`, { body });
      const answer = await passUntil(pass, asked);
      expect(answer.body).toMatchObject({ dryRun: true, count: 23 });
      expect(answer.body.next).toEqual({ ids: ids.slice(23), dryRun: true });
    }
    expect(handled).toEqual([]);
  });
});
