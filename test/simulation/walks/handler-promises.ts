import type { ClaimedResult } from '../../../src/receiver/dedupe/store.ts';
import type { HandlerContext } from '../../../src/receiver/handling/handlers/route.ts';
import { clock } from '../clock.ts';
import type { StoreRecord } from '../store-record.ts';
import { accepts, claimOf, isClaimUnknown, isForDelivery, mayRunUnclaimed } from './handler-claims.ts';
import { checkKey, keyOf } from './key-promises.ts';
import type { WalkProcess } from './process.ts';
import { checkRerun, checkRerunAlone, rerunTokenOf } from './rerun-promises.ts';
import type { HandlerRun, SimulatedEvent } from './simulated-event.ts';
import type { WalkWorld } from './world.ts';

/** A handler begins. */
export function noteBegin(
  world: WalkWorld,
  process: WalkProcess,
  event: SimulatedEvent,
  handler: number,
  context: HandlerContext,
): HandlerRun {
  const { rerun } = context;
  const own = rerun === undefined ? claimOf(world, process, event, handler, context) : undefined;
  const name = world.configuration.handlers[handler]?.name ?? '';
  const token = rerun === undefined ? own?.token : rerunTokenOf(world, process, event, name, rerun);
  const state = 'running';
  const run: HandlerRun = {
    process,
    handler,
    startedAt: clock.now,
    token,
    rerun: rerun?.run,
    isAborted: () => context.signal.aborted,
    ...keyOf(world, process, event, handler),
    abortedAt: Number.POSITIVE_INFINITY,
    state,
  };
  context.signal.addEventListener('abort', () => {
    run.abortedAt = clock.now;
  });
  const where = `${event.id} in ${process.name}`;
  checkRerunAlone(world, run, event, where);
  if (rerun === undefined) checkRun(world, run, event, own, context, where);
  else checkRerun(world, run, event, context, where);
  checkKey(world, run, where);
  event.runs.push(run);
  return run;
}

/** A handler begins in any way but a rerun. */
function checkRun(
  world: WalkWorld,
  run: HandlerRun,
  event: SimulatedEvent,
  own: StoreRecord | undefined,
  context: HandlerContext,
  where: string,
): void {
  const { handler, process, token } = run;
  if (own === undefined && !mayRunUnclaimed(world, process, event))
    world.promises.break('handlers begin only on a lease that holds', where);
  if (token !== undefined) checkFirst(world, process, event, handler, token, where);
  checkAlone(world, run, event, where);
  checkLetter(world, process, event, context, own?.claimed, where);
  if (own !== undefined) checkAbandoned(world, process, event, own, context, where);
  checkPermits(world, process, event, where);
}

/** Nothing runs again after the claim has been granted later than its end was recorded. */
function checkFirst(
  world: WalkWorld,
  process: WalkProcess,
  event: SimulatedEvent,
  handler: number,
  token: string,
  where: string,
): void {
  const { configuration, claims, store } = world;
  if (isClaimUnknown(world, process, event)) return;
  const mayBeUnclaimed = world.promises.mayBeUnclaimed(event);
  if (mayBeUnclaimed) return;
  const { grantedAt = 0 } = claims.get(token) ?? {};
  const name = configuration.handlers[handler]?.name;
  const ids = event.ids.filter((id) => store.recordOf(id).token === token);
  // Only a run of the job has read the names that the job keeps.
  const isOfJob = configuration.handlers[handler]?.isQueued && !process.tasks.has(`replay of ${event.id}`);
  const places = isOfJob ? [...ids, `job ${event.id}`] : ids;
  if (places.some((place) => (event.recorded.get(`${place} ${name}`) ?? grantedAt) < grantedAt))
    world.promises.break('a named handler that has finished does not run again', `${name} of ${where}`);
  // A replay completes both ids, one after the other.
  const isHalf =
    ids[0] !== event.ids[0] &&
    ['store', 'crash', 'standstill', 'close', 'forgetting'].some((fault) => event.faults.has(fault));
  if ((event.completedAt ?? grantedAt) < grantedAt && !isHalf)
    world.promises.break('no handler runs after the event was recorded', where);
}

/**
 * The handlers of an event run at once only in one run. Suspended if a process stood still or was cut off
 * from the store, runs without a claim, or was aborted and its handlers do not heed it; and if the store has
 * forgotten the event.
 */
function checkAlone(world: WalkWorld, run: HandlerRun, event: SimulatedEvent, where: string): void {
  const { configuration, claims } = world;
  const { process, token } = run;
  for (const other of event.running) {
    const isSame = other.token === token && other.process === process;
    const isExcused =
      other.process.state === 'frozen' ||
      other.process.stoodStillAt >= other.startedAt - configuration.times.leaseMs ||
      other.isAborted() ||
      other.token === undefined ||
      token === undefined ||
      (claims.get(other.token)?.faults.size ?? 0) > 0 ||
      event.forgottenAt > 0 ||
      // Such a run is taken for one with another claim of its process, such as a look at a plain store.
      world.promises.mayBeUnclaimed(event) ||
      other.rerun !== undefined ||
      isOfOtherId(world, other, run);
    if (isSame || isExcused) continue;
    world.promises.break(
      'handlers of an event run in one process at a time',
      `${where}, beside ${other.process.name}`,
    );
  }
}

/** The handlers before the answer, and those in a worker, are claimed by different ids. */
function isOfOtherId(world: WalkWorld, one: HandlerRun, other: HandlerRun): boolean {
  const { handlers } = world.configuration;
  return handlers[one.handler]?.isQueued !== handlers[other.handler]?.isQueued;
}

/**
 * The letter of a last attempt is stored before its handlers run. Suspended if the letters fail or the
 * process has stood still, and if the letter has been removed since: the event was handled or dropped. An
 * accept stores it first only if an earlier run did not end, because its caller knows of a crash.
 */
function checkLetter(
  world: WalkWorld,
  process: WalkProcess,
  event: SimulatedEvent,
  context: HandlerContext,
  claimed: ClaimedResult | undefined,
  where: string,
): void {
  const { configuration, letters } = world;
  if (!context.final || !configuration.hasDeadLetters || letters.has(event.id)) return;
  const mayBeAccept = accepts(process, event) && (world.hasWrongClock || !isForDelivery(world, context));
  // A run without its claim knows of no earlier one.
  const isFirst = (claimed?.abandoned ?? 0) === 0 || world.promises.mayBeUnclaimed(event);
  const isExcused =
    (mayBeAccept && isFirst) ||
    event.faults.has('letters') ||
    process.stoodStillAt > 0 ||
    event.completedAt !== undefined ||
    event.isDropped ||
    event.forgottenAt > 0;
  if (!isExcused)
    world.promises.break('the letter of a last attempt is stored before its handlers run', where);
}

/**
 * The last attempt of the service is parked, and does not run, if the process of an earlier one has died: the
 * event may be what kills it. Suspended if letters fail, if the process has stood still, which makes them
 * late, and if it is unknown whether a handler runs for a delivery: a replay runs all the same.
 */
function checkAbandoned(
  world: WalkWorld,
  process: WalkProcess,
  event: SimulatedEvent,
  { claimed }: StoreRecord,
  context: HandlerContext,
  where: string,
): void {
  if (!context.final || !isForDelivery(world, context)) return;
  const { configuration, hasQueue, hasWrongClock, promises } = world;
  if (hasQueue || hasWrongClock || !configuration.hasDeadLetters) return;
  const isExcused = promises.mayBeUnclaimed(event) || event.faults.has('letters') || process.stoodStillAt > 0;
  if (!isExcused && (claimed?.abandoned ?? 0) > 0)
    promises.break('a last attempt after one that died is parked, and not run', where);
}

/**
 * An event with more handlers than there are permits runs alone. Jobs, replays, accepts and reruns need none.
 */
function checkPermits(world: WalkWorld, process: WalkProcess, event: SimulatedEvent, where: string): void {
  const { configuration, events } = world;
  const { maxRunning } = configuration;
  if (maxRunning === undefined || world.hasQueue || process.hasReplayed || process.hasAccepted) return;
  if (process.hasRerun) return;
  const others = events
    .filter((other) => other !== event)
    .flatMap(({ running }) => running.filter((run) => run.process === process));
  const own = event.running.filter((run) => run.process === process);
  if (others.length > 0 && others.length + own.length + 1 > maxRunning)
    world.promises.break('no more handlers run at once than maxRunning', where);
}
