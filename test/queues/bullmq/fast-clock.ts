import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { Fixture } from '../../stores/redis/fixture.ts';
import type { openQueue } from './queue-fixture.ts';

type Opened = Awaited<ReturnType<typeof openQueue>>;

const LOOK_MS = 200;
/** A handler that takes as long as these looks has lost its lock: 30 seconds in 1.6. */
const LOOKS_OF_A_LOCK = 8;

/**
 * Until the test ends, delayed jobs come at once, the lock of a run that goes on for 1.6 seconds runs out,
 * and the queue looks for stalled jobs five times a second.
 */
export async function runFastClock(
  { bull, keyOf, openStalledCheck, promote }: Pick<Opened, 'bull' | 'keyOf' | 'openStalledCheck' | 'promote'>,
  fixture: Fixture,
  { port }: { readonly port: number },
): Promise<void> {
  const [lookForStalled, client] = await Promise.all([openStalledCheck(), fixture.connect({ port })]);
  let seen = new Map<string, number>();
  const look = async (): Promise<void> => {
    await promote();
    const now = new Map<string, number>();
    for (const { id } of await bull.getActive()) {
      const key = keyOf(`${id}:lock`);
      // Each run has a token of its own.
      const run = `${key} ${await client.get(key)}`;
      const looks = (seen.get(run) ?? 0) + 1;
      now.set(run, looks);
      if (looks >= LOOKS_OF_A_LOCK) await client.del(key);
    }
    seen = now;
    await lookForStalled();
  };
  let isOver = false;
  const run = async (): Promise<void> => {
    while (!isOver) {
      // While Redis is away, no time passes.
      await look().catch(() => seen.clear());
      await sleep(LOOK_MS);
    }
  };
  const ended = run();
  onTestFinished(async () => {
    isOver = true;
    await ended;
  });
}
