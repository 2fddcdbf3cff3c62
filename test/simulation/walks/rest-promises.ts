import { clock } from '../clock.ts';
import { checkEnded } from './claim-promises.ts';
import { checkKeyAtRest } from './key-promises.ts';
import type { WalkProcess } from './process.ts';
import { isSuccess, type SimulatedEvent } from './simulated-event.ts';
import type { WalkWorld } from './world.ts';

/** The sweep of a worker, which goes on for as long as it lives: `src/queues/bullmq/worker.ts`. */
const SWEEP_MS = 60_000;

/** Checks the promises about a world that has come to rest. */
export function checkAtRest(world: WalkWorld): void {
  for (const event of world.events) checkEvent(world, event);
  for (const id of world.store.keyIds) checkKeyAtRest(world, id);
  for (const process of world.running) checkProcess(world, process);
}

function checkEvent(world: WalkWorld, event: SimulatedEvent): void {
  const { configuration, letters, promises, queue, store } = world;
  const { id, deliveries } = event;
  const waiting = deliveries.find(({ status, process }) => status === undefined && process.state !== 'dead');
  if (waiting !== undefined) promises.break('every delivery is answered', waiting.name);
  const isParked = letters.has(id);
  const isDone = promises.isHandled(event) || event.isDropped || isParked;
  const jobs = [...queue.jobs.values()].filter((job) => job.event === event);
  // Without dead letters a job that has failed for good stays in the queue.
  const isJobLeft = !configuration.hasDeadLetters && jobs.length > 0;
  const hasSuccess = event.hasAcceptSucceeded || deliveries.some(({ status }) => isSuccess(status));
  if (hasSuccess && !isDone && !isJobLeft) promises.break('no accepted event is lost', id);
  if (configuration.hasDeadLetters && jobs.length > 0) promises.break('no job is left in the queue', id);
  for (const { leaseEndsAt, state, token = '' } of [...store.recordsOf(event), ...store.rerunsOf(event)])
    if (state === 'processing' && leaseEndsAt <= clock.now) checkEnded(world, token);
  checkLetter(world, event);
  checkRecorded(world, event);
}

/**
 * A run that has succeeded is recorded, however late. Suspended if its process has died, if it had no claim,
 * and if the store has forgotten the event. With a queue, only its handlers in workers end a run.
 */
function checkRecorded({ configuration, hasQueue, promises }: WalkWorld, event: SimulatedEvent): void {
  if (event.completedAt !== undefined || event.forgottenAt > 0) return;
  const hasKeys = configuration.handlers.some(({ keyedBy }) => keyedBy !== undefined);
  const runs = event.runs.filter(({ rerun }) => rerun === undefined);
  for (const { process: owner, token: ofClaim } of runs) {
    const ofRun = runs.filter(({ process, token }) => process === owner && token === ofClaim);
    const isWhole =
      ofRun.length === configuration.handlers.filter(({ isQueued }) => isQueued === hasQueue).length &&
      ofRun.every(({ handler, process, state, token }) => {
        const isOfWorker = configuration.handlers[handler]?.isQueued === hasQueue;
        return isOfWorker && state === 'succeeded' && process.state !== 'dead' && token !== undefined;
      });
    // A replay runs all handlers, and some of them may have waited for their concurrency key in vain.
    const isReplayed = hasKeys && owner.hasReplayed && !promises.isHandled(event);
    if (isWhole && !isReplayed) promises.break('a run that has succeeded is recorded', event.id);
  }
}

/**
 * No letter is left of an event that was handled. Suspended if a letter could not be removed or a process
 * could not go on to remove it, and if clocks disagree: a letter may say that the event comes from the
 * future. The replay of such a letter is a `duplicate`, and removes it.
 */
function checkLetter(
  { hasQueue, hasWrongClock, letters, promises, store }: WalkWorld,
  event: SimulatedEvent,
): void {
  const [handling] = store.recordsOf(event);
  if (handling?.state !== 'completed' || !letters.has(event.id) || hasWrongClock) return;
  const excuses = ['letters', 'crash', 'close', 'forgetting'];
  // A drop that gets no answer leaves the letter, and its completion may arrive.
  const isDropFailed = event.isDropped && event.faults.has('store');
  // Without a claim a run does not know of earlier attempts, and their letters.
  const isUnclaimed = promises.mayBeUnclaimed(event);
  // Its job was already in the queue when another delivery parked the event of a process that stood still.
  const isEnqueued = hasQueue && event.faults.has('standstill');
  // One delivery added the job, but the queue answered too late. A worker handled the event. Then the last
  // delivery sent the job again, and parked the event because the queue failed (profile "keys", seed 7006).
  const isSentAgain = event.jobsSent > 1 && event.faults.has('queue');
  const isExcused =
    isDropFailed ||
    isUnclaimed ||
    isEnqueued ||
    isSentAgain ||
    excuses.some((excuse) => event.faults.has(excuse));
  if (!isExcused) promises.break('no letter is left of an event that was handled', event.id);
}

function checkProcess(world: WalkWorld, process: WalkProcess): void {
  const { name, tasks } = process;
  const { promises, store } = world;
  const timers = clock.timers.filter((timer) => timer.process === name && timer.intervalMs !== SWEEP_MS);
  if (timers.length > 0) promises.break('no timer is left', name);
  const left = leftIn(process.receiver);
  if (left !== undefined) promises.break('nothing is left when the world is quiet', `${name}: ${left}`);
  if (tasks.size > 0) promises.break('every replay, drop, accept and rerun ends', `${name}: ${[...tasks]}`);
  if (process.closingSince !== undefined && !process.isClosed) promises.break('close() resolves', name);
  for (const id of process.completed)
    if (store.recordOf(id).state !== 'completed')
      promises.break('an event that was handled is recorded', `${id} by ${name}`);
}

/**
 * Fields that are empty once everything was given back. The build has opened them: their names begin with
 * `$`.
 */
const emptyFields: Readonly<Record<string, string>> = {
  Semaphore: '$taken',
  BodyMemory: '$heldBytes',
  Activity: '$count',
  RunsInFlight: '$runs',
  LetterOperations: '$last',
  OperationQueue: '$waiting',
  Completions: '$pending',
  ConcurrencyKeys: '$queues',
};

/** Looks through all objects that a receiver holds for something that should have been given back. */
function leftIn(receiver: object): string | undefined {
  const met = new Set<object>();
  const open: object[] = [receiver];
  for (let object = open.pop(); object !== undefined; object = open.pop()) {
    if (met.has(object)) continue;
    met.add(object);
    const name = object.constructor?.name ?? '';
    const field = emptyFields[name];
    if (field !== undefined) {
      const value: unknown = Reflect.get(object, field);
      const size = typeof value === 'object' && value !== null ? Reflect.get(value, 'size') : value;
      if (size !== 0) return `${name}.${field} is ${String(size)}`;
    }
    for (const key of Object.keys(object)) {
      const value: unknown = Reflect.get(object, key);
      if (typeof value === 'object' && value !== null) open.push(value);
    }
  }
  return undefined;
}
