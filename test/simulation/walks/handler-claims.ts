import type { HandlerContext } from '../../../src/receiver/handling/handlers/route.ts';
import { clock } from '../clock.ts';
import type { StoreRecord } from '../store-record.ts';
import type { WalkProcess } from './process.ts';
import type { SimulatedEvent } from './simulated-event.ts';
import type { WalkWorld } from './world.ts';

/**
 * The record with the claim that a handler runs on. Handlers that run before the answer are claimed by an id
 * of their own if workers run the rest. Such a handler has a deadline that counts from the arrival of its
 * delivery; in a replay and in an accept it has a later one.
 */
export function claimOf(
  world: WalkWorld,
  process: WalkProcess,
  event: SimulatedEvent,
  handler: number,
  context: HandlerContext,
): StoreRecord | undefined {
  const { claims, configuration, hasQueue, store } = world;
  const isOwn = ({ leaseEndsAt, state, token = '' }: StoreRecord): boolean =>
    state === 'processing' && claims.get(token)?.process === process && leaseEndsAt > clock.now;
  const [handling, enqueueing] = store.recordsOf(event);
  const isQueued = configuration.handlers[handler]?.isQueued;
  const isOfDelivery = isForDelivery(world, context);
  if (!hasQueue || isQueued) return handling !== undefined && isOwn(handling) ? handling : undefined;
  const records = isClaimUnknown(world, process, event)
    ? [handling, enqueueing]
    : [isOfDelivery || accepts(process, event) ? enqueueing : handling];
  return records.find((record) => record !== undefined && isOwn(record));
}

/**
 * Returns true if nothing tells which id a handler before the answer is claimed by, in a world with a queue:
 * a clock was set back, or the process both replays and accepts the event.
 */
export function isClaimUnknown(
  { hasQueue, hasWrongClock }: WalkWorld,
  process: WalkProcess,
  event: SimulatedEvent,
): boolean {
  const doesBoth = process.tasks.has(`replay of ${event.id}`) && accepts(process, event);
  return hasQueue && (hasWrongClock || doesBoth);
}

/** Returns true while an accept of the event is under way. */
export function accepts({ tasks }: WalkProcess, { id }: SimulatedEvent): boolean {
  return tasks.has(`accept of ${id}`);
}

/** Returns true if the handler of a delivery runs, and not that of a replay or of an accept. */
export function isForDelivery(
  { configuration }: WalkWorld,
  { deadlineAt, receivedAt }: HandlerContext,
): boolean {
  return deadlineAt - receivedAt <= configuration.times.deadlineMs;
}

/**
 * A run may be without a claim under `onStoreFailure: 'process'`, once the store has failed the process, or
 * the process has stood still and may have taken an answer for late. A store that has forgotten the event
 * cannot know of its leases. And a run does not know yet that another one has completed the event, or a drop.
 */
export function mayRunUnclaimed(world: WalkWorld, process: WalkProcess, event: SimulatedEvent): boolean {
  const { claims, configuration } = world;
  const { completedAt, faults, forgottenAt } = event;
  if (forgottenAt > 0) return true;
  const wasGranted = (before: number): boolean =>
    [...claims.values()].some(
      (claim) => claim.process === process && claim.event === event && (claim.grantedAt ?? before) < before,
    );
  if (completedAt !== undefined && wasGranted(completedAt)) return true;
  // The way into the queue may be completed, and the event not yet.
  const isEnqueued = world.store.recordsOf(event)[1]?.state === 'completed';
  if (isEnqueued && wasGranted(world.stepCount)) return true;
  const hasFailed = faults.has('store') || process.stoodStillAt > 0;
  return configuration.onStoreFailure === 'process' && hasFailed;
}
