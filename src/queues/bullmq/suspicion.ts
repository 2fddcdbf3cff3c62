import type { Job } from 'bullmq';
import type { JobNotes, Suspicion } from './job-notes.ts';

/**
 * Returns the suspicion against a job, by the workers that died with it; undefined for an ordinary job.
 *
 * All jobs of a dead worker stall together, and one of them may have killed it. They become suspects, and run
 * in groups. Each time a worker dies with a group, the next groups are half as large: only a job that ran
 * alone is known to be the cause. A suspect that still waited for its group did not run, so its limit stays.
 */
export function suspicionOf(
  { stalledCounter: stalls }: Pick<Job, 'stalledCounter'>,
  { forgivenStalls = 0, suspicion }: JobNotes,
  concurrency: number,
): Suspicion | undefined {
  if (stalls <= forgivenStalls) return undefined;
  // An ordinary job writes no notes before it runs, so it may have run beside `concurrency` others.
  if (suspicion === undefined) return { stalls, limit: half(concurrency), aloneDeaths: 0 };
  const { limit, aloneDeaths, group } = suspicion;
  const wasRunning = group !== undefined && stalls > suspicion.stalls;
  if (!wasRunning) return { stalls, limit, aloneDeaths };
  return { stalls, limit: half(group), aloneDeaths: group === 1 ? aloneDeaths + 1 : aloneDeaths };
}

function half(size: number): number {
  return Math.max(1, Math.floor(size / 2));
}
