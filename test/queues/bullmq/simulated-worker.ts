import { setImmediate } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { type Admission, SuspectScheduler } from '../../../src/queues/bullmq/suspect-scheduler.ts';
import { fakeTimers } from '../../support/fake-time.ts';

/** Of the workers in these tests. */
export const CONCURRENCY = 10;
const JOBS = 300;
const HOUR_MS = 3_600_000;

/** A job of a simulated worker. */
interface SimulatedJob {
  /** How many suspects may run with it; undefined for an ordinary job. */
  readonly limit: number | undefined;
  readonly durationMs: number;
}

/** Stops the timers and the clock of a worker; its promises settle as always. */
export function useFakeTurns(): void {
  fakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
}

/** Numbers from 0 to 1, the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * Has a worker run suspects and ordinary jobs until all have ended, and expects that they run apart and in
 * groups that are small enough. The timers are fake ones.
 */
export async function simulateWorker(seed: number): Promise<void> {
  const random = randomOf(seed);
  const queue: SimulatedJob[] = Array.from({ length: JOBS }, () => ({
    limit: random() < 0.3 ? 1 + Math.floor(random() * 5) : undefined,
    durationMs: Math.floor(random() ** 4 * 20_000),
  }));
  let isPaused = false;
  const source = {
    pause: () => {
      isPaused = true;
    },
    resume: () => {
      isPaused = false;
    },
  };
  const scheduler = new SuspectScheduler(source, CONCURRENCY);
  const startedAt = performance.now();
  const running = new Set<SimulatedJob>();
  let held = 0;
  let ended = 0;
  const work = async (job: SimulatedJob): Promise<void> => {
    running.add(job);
    const suspects = [...running].flatMap(({ limit }) => limit ?? []);
    expect([0, running.size]).toContain(suspects.length);
    for (const limit of suspects) expect(suspects.length).toBeLessThanOrEqual(limit);
    await new Promise((resolve) => setTimeout(resolve, job.durationMs));
    running.delete(job);
    ended += 1;
  };
  const take = async (job: SimulatedJob): Promise<void> => {
    if (job.limit === undefined) {
      if (!scheduler.tryEnter()) return void queue.unshift(job);
      await work(job);
      return scheduler.leave();
    }
    const suspect = scheduler.enterGroup(job.limit);
    const admission: Admission = await suspect.admission;
    if (admission === 'front') queue.unshift(job);
    else if (admission === 'later') queue.push(job);
    else await work(job);
    return suspect.leave();
  };
  while (ended < JOBS) {
    // It takes less than one hour. An `expect` would take longer than all the rest of this loop.
    if (performance.now() - startedAt > 5 * HOUR_MS) throw new Error(`only ${ended} jobs have ended`);
    const job = isPaused || held === CONCURRENCY ? undefined : queue.shift();
    if (job === undefined) {
      if (vi.getTimerCount() === 0) throw new Error(`nothing happens any more: ${ended} jobs have ended`);
      vi.advanceTimersToNextTimer();
    } else {
      held += 1;
      void take(job).finally(() => (held -= 1));
      vi.advanceTimersByTime(1);
    }
    // The asynchronous functions of Vitest wait for a real millisecond each.
    await setImmediate();
  }
  await setImmediate();
  expect([isPaused, running.size, scheduler.tryEnter()]).toEqual([false, 0, true]);
}
