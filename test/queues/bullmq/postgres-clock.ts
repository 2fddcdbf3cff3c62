import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { openPostgresProcesses } from './postgres-processes.ts';

type Opened = Awaited<ReturnType<typeof openPostgresProcesses>>;

const LOOK_MS = 200;
/** A run that takes as long has lost its lock: 30 seconds in 1.6. */
const LOCK_MS = 1_600;

/**
 * Until the test ends, delayed jobs come at once, the lock of a run that goes on for 1.6 seconds runs out,
 * and the queue looks for stalled jobs five times a second.
 */
export function runPostgresClock({
  lookForStalled,
  loseLocks,
  promote,
}: Pick<Opened, 'lookForStalled' | 'loseLocks' | 'promote'>): void {
  const look = async (): Promise<void> => {
    await promote();
    await loseLocks(LOCK_MS);
    await lookForStalled();
  };
  let isOver = false;
  const run = async (): Promise<void> => {
    while (!isOver) {
      // While PostgreSQL is away, no time passes.
      await look().catch(() => {});
      await sleep(LOOK_MS);
    }
  };
  const ended = run();
  onTestFinished(async () => {
    isOver = true;
    await ended;
  });
}
