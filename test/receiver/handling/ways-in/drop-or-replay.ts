import { createMemoryStore, createReceiver, type DeadLetter, type Store } from 'posthorn';
import { expect } from 'vitest';
import { createLetter } from '../../../stores/kit/conformance.ts';
import { ampleTime } from '../../../support/limits.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import { eventAt } from '../../../support/open-endpoint.ts';
import { KEY } from '../../../support/served.ts';

/** A letter as a failed last attempt leaves it. */
export function letterAt(createdAt: number): DeadLetter {
  const event = eventAt(createdAt);
  const rawBody = Buffer.from(JSON.stringify(event));
  return createLetter({ id: event.id, rawBody, handled: [], runningUntil: undefined });
}

const pause = (mostMs: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.random() * mostMs));

/** Gives each operation of a store a random delay before it runs, and one before its answer arrives. */
function slowly(store: Store): Store {
  const slow =
    <Request, Result>(operation: (request: Request) => Result | Promise<Result>) =>
    async (request: Request): Promise<Result> => {
      await pause(8);
      const result = await operation(request);
      await pause(8);
      return result;
    };
  const { claim, renew, complete, release } = store;
  return {
    ...ampleTime,
    claim: slow(claim),
    renew: slow(renew),
    complete: slow(complete),
    release: slow(release),
  };
}

const stores: readonly (readonly [string, (store: Store) => Store])[] = [
  ['a memory store', (store) => store],
  ['a slow store', slowly],
];
const places = ['one process', 'two processes'];

/** Stores and processes in which letters are dropped and replayed at once. */
export const dropsAndReplays = stores.flatMap(([store, change]) =>
  places.map((place) => ({
    name: `with ${store} and ${place}`,
    run: (rounds: number) => dropAndReplay(rounds, change(createMemoryStore()), place === 'one process'),
  })),
);

/** Drops and replays letters at random moments; expects exactly one of both to tell that it has the event. */
async function dropAndReplay(count: number, store: Store, inOneProcess: boolean): Promise<void> {
  const letters = new Map<string, DeadLetter>();
  const runs: string[] = [];
  const start = () =>
    createReceiver({ signingKey: KEY, store, deadLetters: createMapDeadLetters(letters) })
      .on('*', async ({ id }) => {
        await pause(8);
        runs.push(id);
      })
      .observe(() => {});
  const replaying = start();
  const dropping = inOneProcess ? replaying : start();
  const later = async <T>(act: () => Promise<T>): Promise<T> => {
    await pause(25);
    return act();
  };
  const rounds = Array.from({ length: count }, async () => {
    const letter = letterAt(Date.now());
    letters.set(letter.id, letter);
    const [isDropped, report] = await Promise.all([
      later(() => dropping.drop(letter)),
      later(() => replaying.replay(letter)),
    ]);
    const isHandled = runs.includes(letter.id);
    return { isDropped, isHandled, saysHandled: report.outcome === 'processed', outcome: report.outcome };
  });
  const results = await Promise.all(rounds);
  for (const { isDropped, isHandled, saysHandled, outcome } of results) {
    expect({ isDropped, saysHandled, outcome }).toEqual({
      isDropped: !isHandled,
      saysHandled: isHandled,
      outcome: expect.stringMatching(isHandled ? 'processed' : /^(busy|duplicate)$/),
    });
  }
  expect(letters.size).toBe(0);
  // Both must have won some rounds, or the test shows nothing.
  const dropped = results.filter(({ isDropped }) => isDropped).length;
  expect(dropped).toBeGreaterThan(0);
  expect(dropped).toBeLessThan(count);
}
