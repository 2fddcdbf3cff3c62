import type { DeadLetter } from '../../../src/receiver/dead-letters/dead-letters.ts';
import type { WalkProcess } from './process.ts';
import type { StoredJob } from './queue-server.ts';
import type { WalkWorld } from './world.ts';

/** Failures after which a job is put back: they count as no attempt. */
const UNCOUNTED = ['event_running', 'store_unavailable', 'closing', 'run_closed', 'key_busy'];

/**
 * A letter keeps the names of the handlers that have finished, as its writer has read them. To read a letter
 * and to write it are two operations: another process may have written it in between. Suspended if letters
 * fail: a letter that cannot be read is replaced.
 */
export function noteLetter(world: WalkWorld, process: WalkProcess, { id, handled }: DeadLetter): void {
  const read = process.namesRead.get(id) ?? [];
  if (world.eventOf(id)?.faults.has('letters')) return;
  if (read.some((name) => !handled.includes(name)))
    world.promises.break(
      'a letter keeps the names of the handlers that have finished',
      `${id} by ${process.name}`,
    );
}

export function noteLetterRemoved(world: WalkWorld, id: string): void {
  const event = world.eventOf(id);
  if (event === undefined || world.promises.isHandled(event) || event.isDropped) return;
  if (world.letters.has(id))
    world.promises.break('a letter is removed only of an event that was handled or dropped', id);
}

/** The queue removes a job, and with it the names that only the job had. */
export function noteJobRemoved(world: WalkWorld, { event }: StoredJob): void {
  if (event.forgottenAt > 0) event.recorded.clear();
  const isParked = world.letters.has(event.id);
  if (!world.promises.isHandled(event) && !event.isDropped && !isParked)
    world.promises.break('a job ends only once its event is handled, parked or dropped', event.id);
}

/** An attempt of a job counts as failed. */
export function noteJobFailed(world: WalkWorld, { event }: StoredJob, reason: string): void {
  if (UNCOUNTED.some((code) => reason.startsWith(code)))
    world.promises.break('a job that is put back loses no attempt', `${event.id}: ${reason}`);
}
