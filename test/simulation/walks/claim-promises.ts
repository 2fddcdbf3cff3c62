import { isHold } from '../../../src/receiver/dedupe/claim-token.ts';
import type { CompleteRequest, ReleaseRequest } from '../../../src/receiver/dedupe/store.ts';
import { clock } from '../clock.ts';
import { checkKeyEnded, isKeyId } from './key-promises.ts';
import type { WalkProcess } from './process.ts';
import type { HandlerRun, KeyClaim, SimulatedEvent } from './simulated-event.ts';
import type { WalkWorld } from './world.ts';

/** The pause before a release is tried again: `src/receiver/dedupe/retries.ts`. */
const FIRST_RELEASE_PAUSE_MS = 100;

const GIVEN_BACK = 'a claim is given back by its process';

/** `abandoned` is the token of the claim whose lease has run out. */
export function noteClaim(world: WalkWorld, token: string, abandoned: string | undefined): void {
  const claim = world.claims.get(token);
  if (claim !== undefined) claim.grantedAt ??= world.stepCount;
  if (abandoned !== undefined) checkEnded(world, abandoned);
}

/**
 * A claim is released or completed by its process. Suspended if the process has died or stands still, if an
 * operation of the claim had a fault other than that of the claim itself, and without claims
 * (`onStoreFailure: 'process'`), where a run releases a claim that it may have only at its end. If the store
 * has forgotten the event, a renewal that arrives after the release claims it anew.
 */
export function checkEnded(world: WalkWorld, token: string, promise = GIVEN_BACK): void {
  const claim = world.claims.get(token);
  if (claim === undefined) return;
  const { process, event } = claim;
  const isExcused = claim.mayRunOut || world.promises.mayBeUnclaimed(event) || event.forgottenAt > 0;
  if (!isExcused) world.promises.break(promise, `${event.id} in ${process.name}`);
}

/** The claim of a token, of an event or of a key. */
function claimOf({ claims, keyClaims }: WalkWorld, token = ''): KeyClaim | undefined {
  return claims.get(token) ?? keyClaims.get(token);
}

/**
 * A claim that comes after it was given back does no harm if it comes soon enough. A store that refuses such
 * claims does so for as long as a lease. Any other store is told once more to give the claim back, when a
 * command would have timed out. A claim at the very end of that time is too late, as in `../promises.ts`: the
 * store refuses it no more, and may have got the second release just before it.
 */
export function noteGranted(world: WalkWorld, token: string): void {
  const { store, times } = world.configuration;
  const claim = claimOf(world, token);
  const limitMs = store === 'plain' ? times.commandTimeoutMs : times.leaseMs;
  if (claim !== undefined && clock.now >= claim.givenBackAt + limitMs) claim.isPastLimit = true;
}

/** A claim is answered `busy`, because the claim of `holder` has the id. */
export function checkBusy(world: WalkWorld, id: string, holder: string): void {
  const { store, times } = world.configuration;
  const { givenBackAt = clock.now } = claimOf(world, holder) ?? {};
  const releases = store === 'plain' ? 2 : 1;
  const pauseMs = store === 'plain' ? FIRST_RELEASE_PAUSE_MS : 0;
  if (clock.now <= givenBackAt + releases * times.commandTimeoutMs + pauseMs) return;
  const promise = 'nobody is shut out by a claim that was given back';
  if (isKeyId(id)) checkKeyEnded(world, id, holder, promise);
  else checkEnded(world, holder, promise);
}

/** The store records a completion. */
export function noteCompletion(world: WalkWorld, { id, token }: CompleteRequest): void {
  const event = world.store.eventOf(id);
  if (event === undefined || id !== event.ids[0]) return;
  event.completedAt ??= world.stepCount;
  if (token !== 'dropped') {
    if (!world.promises.isHandled(event))
      world.promises.break('an event is recorded once it is handled', event.id);
    return;
  }
  event.isDropped = true;
  const records = world.store.recordsOf(event);
  const isHeld = event.running.some((run) =>
    records.some(
      ({ leaseEndsAt, token: held }) =>
        run.token !== undefined && held === run.token && leaseEndsAt > clock.now,
    ),
  );
  // The claim of a drop is confirmed before its completion is sent; the completion may be on its way for
  // long.
  const isExcused = ['store', 'standstill', 'crash', 'forgetting'].some((fault) => event.faults.has(fault));
  if (isHeld && !isExcused)
    world.promises.break('no event is dropped while a run has a lease that holds', event.id);
}

/** A process sends a release, which names all handlers that have finished. */
export function noteRelease(
  world: WalkWorld,
  process: WalkProcess,
  { id, token, handled }: ReleaseRequest,
): void {
  const claim = claimOf(world, token);
  if (claim !== undefined) claim.givenBackAt = Math.min(claim.givenBackAt, clock.now);
  // No handler runs under a hold, but once the store has forgotten the claim of a run, one can be taken for
  // it.
  if (isHold(token)) return;
  const event = world.store.eventOf(id);
  // A run without a claim is taken for one with the claim that its process has not given back.
  const isUnknown = world.hasQueue && (world.hasWrongClock || (process.hasReplayed && process.hasAccepted));
  if (event === undefined || isUnknown || world.promises.mayBeUnclaimed(event)) return;
  const missing = event.runs.find(
    (run) =>
      run.process === process &&
      run.token === token &&
      run.state === 'succeeded' &&
      isMissing(world, run, handled),
  );
  if (missing !== undefined)
    world.promises.break('a release names the handlers that have finished', `${event.id} in ${process.name}`);
}

function isMissing(world: WalkWorld, { handler }: HandlerRun, handled: readonly string[]): boolean {
  const name = world.configuration.handlers[handler]?.name;
  return name !== undefined && !handled.includes(name);
}

/** The store has taken a release. */
export function noteReleased(world: WalkWorld, { id, handled }: ReleaseRequest): void {
  const event = world.store.eventOf(id);
  if (event !== undefined) noteHandled(world, event, id, handled);
}

/** The place where names are kept, a claim or a job, knows now that these handlers have finished. */
export function noteHandled(
  { stepCount }: WalkWorld,
  { recorded }: SimulatedEvent,
  place: string,
  names: readonly string[],
): void {
  for (const name of names) {
    const key = `${place} ${name}`;
    if (!recorded.has(key)) recorded.set(key, stepCount);
  }
}
