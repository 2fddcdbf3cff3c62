import { keyId } from '../../../src/receiver/dedupe/claim-id.ts';
import { POLL_MS } from '../../../src/receiver/dedupe/poll.ts';
import { letterTimeMs } from '../../../src/receiver/timing/deadline.ts';
import { clock } from '../clock.ts';
import type { HandlerOptions } from './configuration.ts';
import type { WalkProcess } from './process.ts';
import type { HandlerRun, SentDelivery, SimulatedEvent } from './simulated-event.ts';
import type { WalkWorld } from './world.ts';

/** The beginning of the ids that only concurrency keys have. */
const KEY_PREFIX = keyId('', '').slice(0, 'handled:key:'.length);

const RELEASED = 'a concurrency key is released by its process';

export function isKeyId(id: string): boolean {
  return id.startsWith(KEY_PREFIX);
}

/** The id of the concurrency key that a handler has for an event; undefined without one. */
function keyIdOf({ keys }: SimulatedEvent, { keyedBy, name }: HandlerOptions): string | undefined {
  return name === undefined || keyedBy === undefined ? undefined : keyId(name, keys[keyedBy]);
}

/** The concurrency key of a handler that begins, and the claim of it that its process has. */
export function keyOf(
  { configuration, keyClaims, store }: WalkWorld,
  process: WalkProcess,
  event: SimulatedEvent,
  handler: number,
): Pick<HandlerRun, 'keyId' | 'keyToken'> {
  const options = configuration.handlers[handler];
  const id = options && keyIdOf(event, options);
  if (id === undefined) return { keyId: undefined, keyToken: undefined };
  const { leaseEndsAt, token = '' } = store.recordOf(id);
  const isOwn = leaseEndsAt > clock.now && keyClaims.get(token)?.process === process;
  return { keyId: id, keyToken: isOwn ? token : undefined };
}

/** A handler with a concurrency key begins: it has the key, and no other run of it has. */
export function checkKey(world: WalkWorld, run: HandlerRun, where: string): void {
  const { keyId: id, keyToken, process } = run;
  if (id === undefined) return;
  if (keyToken === undefined && !mayRunWithoutKey(world, process, id))
    world.promises.break('a handler begins only while the lease of its concurrency key holds', where);
  const others = world.events.flatMap(({ running }) => running).filter((other) => other.keyId === id);
  const beside = others.find((other) => !mayRunBeside(world, run, other));
  if (beside === undefined) return;
  const text = 'one run of a handler has a concurrency key at a time';
  world.promises.break(text, `${where}, beside ${beside.process.name}`);
}

/**
 * A handler may run without its key if the store has forgotten the key, and under `onStoreFailure: 'process'`
 * once the store has failed the process.
 */
function mayRunWithoutKey(world: WalkWorld, process: WalkProcess, id: string): boolean {
  if (world.forgottenKeys.has(id)) return true;
  if (world.configuration.onStoreFailure === 'reject') return false;
  const claims = [...world.keyClaims.values()].filter((claim) => claim.process === process);
  return process.stoodStillAt >= 0 || claims.some(({ faults }) => faults.size > 0);
}

/**
 * Another run of the handler for the key may go on beside a new one if it has lost the key: because the store
 * has forgotten it, it never had it, it did not end long after it was aborted (`key_overrun`), or its lease
 * has run out. A lease runs out only if its process stood still, or an operation of the claim had a fault.
 */
function mayRunBeside(world: WalkWorld, run: HandlerRun, other: HandlerRun): boolean {
  const { configuration, forgottenKeys, keyClaims, store } = world;
  const { keyId: id = '', keyToken: token = '' } = other;
  const { leaseMs, maxRunMs } = configuration.times;
  if (forgottenKeys.has(id) || token === '' || run.keyToken === undefined) return true;
  if (clock.now >= other.abortedAt + maxRunMs) return true;
  if (token === run.keyToken || store.recordOf(id).leaseOf(token) > clock.now) return false;
  return (
    other.process.state === 'frozen' ||
    other.process.stoodStillAt >= other.startedAt - leaseMs ||
    (keyClaims.get(token)?.faults.size ?? 0) > 0
  );
}

/** No claim of a key is left in a store in which nothing happens any more: its leases have ended by then. */
export function checkKeyAtRest(world: WalkWorld, id: string): void {
  const { state, token } = world.store.recordOf(id);
  if (state === 'processing') checkKeyEnded(world, id, token);
}

/**
 * The claim of a key is released by its process. Suspended if the process has died or stands still, if a
 * renewal or the release had a fault, if the store has forgotten the key, and if its handlers ran without it.
 */
export function checkKeyEnded(world: WalkWorld, id: string, token = '', promise = RELEASED): void {
  const claim = world.keyClaims.get(token);
  if (claim === undefined || world.forgottenKeys.has(id)) return;
  const { faults, mayRunOut, process } = claim;
  const isUnclaimed = faults.size > 0 && world.configuration.onStoreFailure === 'process';
  if (!mayRunOut && !isUnclaimed) world.promises.break(promise, `${id} in ${process.name}`);
}

/**
 * A delivery is answered `key_busy`: a process has the key, or had it just before, and the delivery has
 * waited for as long as it may. Suspended if the store or a process was slower than it may be, if the store
 * has forgotten the key, and if bodies do not fit into the memory. A delivery that has joined an earlier run
 * waits for less time.
 */
export function checkKeyBusy(
  world: WalkWorld,
  event: SimulatedEvent,
  delivery: SentDelivery,
  where: string,
): void {
  const { configuration, promises, store } = world;
  const { commandTimeoutMs, deadlineMs } = configuration.times;
  const { process, receivedAt = 0 } = delivery;
  const ids = configuration.handlers.flatMap((handler) => keyIdOf(event, handler) ?? []);
  if (isSlow(world, event) || ids.some((id) => world.forgottenKeys.has(id))) return;
  // A process asks once more after a pause, and for each question the store has its time.
  const heldSince = clock.now - POLL_MS - 2 * commandTimeoutMs;
  if (ids.every((id) => store.heldUntil(id) < heldSince))
    promises.break('a concurrency key is busy only while a process has it', where);
  const isFirst = event.deliveries.find((sent) => sent.process === process) === delivery;
  const waitMs = deadlineMs * (5 / 6) - letterTimeMs(deadlineMs);
  if (isFirst && !process.hasReplayed && !process.hasAccepted && clock.now < receivedAt + waitMs)
    promises.break('a delivery waits for its concurrency key until its handlers must begin', where);
}

function isSlow({ configuration, keyClaims, processes }: WalkWorld, { faults }: SimulatedEvent): boolean {
  const hasStoodStill = processes.some(({ state, stoodStillAt }) => state === 'frozen' || stoodStillAt >= 0);
  // A fault of a key's claim may be older than the event.
  const isKeySlow = [...keyClaims.values()].some((claim) => claim.faults.size > 0);
  return hasStoodStill || isKeySlow || faults.has('store') || configuration.hasSmallMemory;
}
