import fc from 'fast-check';
import type { DeadLetters } from 'posthorn';
import { expect, test } from 'vitest';
import { LetterOperations } from '../../../src/receiver/dead-letters/letter-operations.ts';
import { bareKeyFunctionOf } from '../../../src/receiver/provider/event-key.ts';
import { BodyMemory } from '../../../src/receiver/request/body-memory.ts';
import { fakeTime, passUntil } from '../../support/fake-time.ts';
import { Gate } from '../../support/gate.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { readAll } from '../../support/read-all.ts';

const LIMIT_MS = 40;
const bodyMemory = new BodyMemory(1_000);

const step = fc.record({
  id: fc.constantFrom('a', 'b', 'c', 'd'),
  kind: fc.constantFrom('find', 'store', 'remove'),
  isUrgent: fc.boolean(),
  waitMs: fc.constantFrom(1, 20, 1_000),
  // Before the next step is taken.
  pauseMs: fc.constantFrom(0, 0, 0, 5, 60),
});
/** How long the dead letters take, call by call; more than the limit is late. */
const delays = fc.array(fc.constantFrom(0, 1, 5, 100), { minLength: 1, maxLength: 20 });

/** In the time of the test. */
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Dead letters that take their time, and note which calls on one id overlap. */
function slowed(deadLetters: DeadLetters, delaysMs: readonly number[]) {
  const active = new Map<string, number>();
  const overlaps: string[] = [];
  let calls = 0;
  const during = async <T>(id: string, call: () => Promise<T>): Promise<T> => {
    if ((active.get(id) ?? 0) > 0) overlaps.push(id);
    active.set(id, (active.get(id) ?? 0) + 1);
    calls += 1;
    await pause(delaysMs[calls % delaysMs.length] ?? 0);
    const result = await call();
    active.set(id, (active.get(id) ?? 0) - 1);
    return result;
  };
  const slow: DeadLetters = {
    ...deadLetters,
    get: (id) => during(id, () => deadLetters.get(id)),
    put: (letter) => during(letter.id, () => deadLetters.put(letter)),
    remove: (id) => during(id, () => deadLetters.remove(id)),
  };
  return { slow, overlaps, isIdle: () => [...active.values()].every((count) => count === 0) };
}

const provider = { keyOf: bareKeyFunctionOf('banking-service'), storedName: undefined };

test('operations on one id run in the order of their calls, and none of a removed letter afterwards', async () => {
  const pass = fakeTime();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), delays, async (steps, delaysMs) => {
      const map = createMapDeadLetters();
      const { slow, overlaps, isIdle } = slowed(map, delaysMs);
      const operations = new LetterOperations(slow, {
        limitMs: LIMIT_MS,
        now: Date.now,
        mayWait: true,
        bodyMemory,
        provider,
      });
      const stored: number[] = [];
      const removed = new Map<string, number>();
      const outcomes = steps.map(async ({ id, kind, isUrgent, waitMs }, number) => {
        await pause(steps.slice(0, number).reduce((sum, { pauseMs }) => sum + pauseMs, 0));
        const wait = { answerBy: performance.now() + waitMs, isUrgent, bodyBytes: 0 };
        if (kind === 'find') return operations.find(id, wait);
        if (kind === 'remove') return operations.remove(id, wait).then(() => removed.set(id, number));
        const content = { event: { id }, rawBody: Buffer.from(''), headers: {}, receivedAt: 0 };
        const attemptInfo = { attempts: number, handled: [] };
        return operations
          .store(content, attemptInfo, { code: String(number), message: '' }, wait)
          .then(() => {
            stored.push(number);
          });
      });
      await passUntil(pass, Promise.allSettled(outcomes));
      // What was late goes on by itself.
      while (!isIdle()) await pass(20);
      expect(overlaps).toEqual([]);
      for (const letter of await readAll(map.list())) {
        expect(Number(letter.reason)).toBeGreaterThan(removed.get(letter.id) ?? -1);
        const ofId = stored.filter((number) => steps[number]?.id === letter.id);
        expect(Number(letter.reason)).toBeGreaterThanOrEqual(Math.max(-1, ...ofId));
      }
    }),
    { numRuns: 60 },
  );
});

test('an urgent operation goes first, also after one on its id that was not urgent and has ended', async () => {
  const map = createMapDeadLetters();
  const begun: string[] = [];
  const held = new Gate();
  const get: DeadLetters['get'] = async (id) => {
    begun.push(id);
    await held.pass();
    return map.get(id);
  };
  const operations = new LetterOperations(
    { ...map, get },
    { limitMs: 10_000, now: Date.now, mayWait: true, bodyMemory, provider },
  );
  const answerBy = performance.now() + 10_000;
  await operations.remove('later', { answerBy, isUrgent: false, bodyBytes: 0 });
  held.shut();
  // As many as run at once.
  const first = Array.from({ length: 8 }, (_, index) =>
    operations.find(`first ${index}`, { answerBy, isUrgent: true, bodyBytes: 0 }),
  );
  const others = [
    operations.find('waiting', { answerBy, isUrgent: false, bodyBytes: 0 }),
    operations.find('later', { answerBy, isUrgent: true, bodyBytes: 0 }),
  ];
  await held.held.nth(8);
  held.open();
  await Promise.all([...first, ...others]);
  expect(begun.slice(8)).toEqual(['later', 'waiting']);
});
