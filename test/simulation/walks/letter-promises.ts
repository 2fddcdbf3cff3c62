import type { DeadLetter } from '../../../src/receiver/dead-letters/dead-letters.ts';
import { clock } from '../clock.ts';
import type { WalkProcess } from './process.ts';
import type { StoredJob } from './queue-server.ts';
import type { SentClaim } from './simulated-event.ts';
import type { WalkWorld } from './world.ts';

/** Failures after which a job is put back: they count as no attempt. */
const UNCOUNTED = ['event_running', 'store_unavailable', 'closing', 'run_closed', 'key_busy'];

/** A key may be busy for so long, and no attempt counts: `src/queues/bullmq/uncounted-hour.ts`. */
const HOUR_MS = 3_600_000;

/**
 * A letter keeps the names of the handlers that have finished, as its writer has read them. To read a letter
 * and to write it are two operations: another process may have written it in between. Suspended if letters
 * fail: a letter that cannot be read is replaced.
 */
export function noteLetter(world: WalkWorld, process: WalkProcess, letter: DeadLetter): void {
  checkAbandoned(world, letter);
  const { id, handled } = letter;
  const read = process.namesRead.get(id) ?? [];
  if (world.eventOf(id)?.faults.has('letters')) return;
  if (read.some((name) => !handled.includes(name)))
    world.promises.break(
      'a letter keeps the names of the handlers that have finished',
      `${id} by ${process.name}`,
    );
}

/**
 * An event is parked as `run_abandoned` only after a run that did not end: its process has died or stood
 * still, or an operation of its claim had a fault. A drop is not a run, unless the store takes all claims for
 * runs. Suspended if letters fail, if the store has forgotten the event, without claims, and with a queue,
 * whose jobs are abandoned too.
 */
function checkAbandoned(world: WalkWorld, { id, reason, runningUntil }: DeadLetter): void {
  const event = world.eventOf(id);
  if (event === undefined || reason !== 'run_abandoned' || runningUntil !== undefined) return;
  const isUnknown = event.faults.has('letters') || event.forgottenAt > 0 || world.hasQueue;
  if (isUnknown || world.promises.mayBeUnclaimed(event)) return;
  const { claims, configuration } = world;
  const mayRun = ({ process }: SentClaim): boolean =>
    configuration.store === 'plain' ||
    process.hasReplayed ||
    process.hasAccepted ||
    event.deliveries.some((delivery) => delivery.process === process && delivery.receivedAt !== undefined);
  if (![...claims.values()].some((claim) => claim.event === event && claim.mayRunOut && mayRun(claim)))
    world.promises.break('an event is parked as run_abandoned only after a run that did not end', id);
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

/**
 * An attempt of a job counts as failed. A key that is busy for an hour, by the clocks, counts too. The hour
 * may have begun by a clock that was set back, and end by another one.
 */
export function noteJobFailed(world: WalkWorld, { event }: StoredJob, reason: string): void {
  const mostBackMs = Math.max(...world.processes.map(({ wallShiftMs }) => -wallShiftMs));
  const mayHourBeOver = clock.now - event.createdAt + mostBackMs >= HOUR_MS;
  const isHourOver = mayHourBeOver && reason.startsWith('key_busy');
  if (!isHourOver && UNCOUNTED.some((code) => reason.startsWith(code)))
    world.promises.break('a job that is put back loses no attempt', `${event.id}: ${reason}`);
}
