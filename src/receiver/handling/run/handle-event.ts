import type { ClaimReply, Granted } from '../../dedupe/claim.ts';
import { joinLeases } from '../../dedupe/join-leases.ts';
import { isFinal } from '../../dedupe/last-attempt.ts';
import type { ConfirmableLease } from '../../dedupe/lease.ts';
import { AbortedError, type PosthornError, UnavailableError } from '../../errors.ts';
import { ageOf } from '../../events/age.ts';
import { entityOf } from '../../events/event-types.ts';
import type { StandardSchemaV1 } from '../../events/schema.ts';
import { type Answer, accept, toReportedError } from '../../outcomes/outcome.ts';
import type { Warning } from '../../outcomes/report.ts';
import {
  joinEnds,
  noteHandled,
  RunContext,
  routesToRun,
  runHandler,
  type ValidEvent,
  validateEvent,
} from '../handlers/handlers.ts';
import { hasKey } from '../handlers/route.ts';
import type { ConcurrencyLimit } from '../keys/concurrency-limit.ts';
import { KeyedHandlers } from './keyed-handlers.ts';
import type { Run } from './run.ts';
import {
  answerBusy,
  answerDuplicate,
  recordFailure,
  recordLateEnd,
  recordSuccess,
  releaseClaim,
} from './run-end.ts';
import type { Enqueue } from './run-input.ts';
import { throughMiddlewares } from './through-middlewares.ts';
import { waitForOther } from './wait-for-other.ts';

/** Takes a run from its claim to its answer. Never rejects. */
export async function handleEvent(run: Run, onEnd: (run: Run) => void): Promise<void> {
  let answer: Answer;
  try {
    answer = await claimAndHandle(run);
  } catch (error) {
    answer = await recordFailure(run, error);
    if (error === run.interruption.endReason) void recordLateEnd(run);
  }
  run.enter({ step: 'ended', answer });
  run.resources.giveBackAll();
  onEnd(run);
  run.answer.settle(answer);
}

/**
 * Claims the event, waits for another process that has it, prepares a last attempt, validates the data, runs
 * the handlers and records their success. Starts again if the claim was lost before the handlers could run. A
 * step that fails throws.
 */
async function claimAndHandle(run: Run): Promise<Answer> {
  const { permits, settings } = run.services;
  const { event, heldLeases, identity } = run.input;
  // The type is that which the provider read: the sender's form may have none by that name.
  const entity = entityOf(identity.type);
  const schema = settings.schemas.get(entity);
  let found = await takeClaim(run);
  for (;;) {
    if (found.state === 'busy') found = await waitForOther(run, found);
    if (found.state === 'completed') return answerDuplicate(run);
    if (found.state === 'busy') return answerBusy(run);
    beginAttempt(run, found);
    const parked = mustPrepare(run, found) ? await prepareLastAttempt(run, found) : undefined;
    if (parked !== undefined) return parked;
    if (permits !== undefined) await acquirePermits(run, permits);
    const valid = schema === undefined ? event : await validate(run, schema, entity);
    let lease = joinLeases(found.lease, heldLeases);
    while (lease.needsConfirmation) lease = await confirm(run, lease);
    // No await between this check and the handlers: the handlers of another event could block the event loop
    // for longer than the lease.
    const { state } = lease;
    if (state === 'held') return await handleOnLease(run, valid, lease);
    // A lease that the caller holds is lost. The run gives back its own claim.
    if (found.lease.state === 'held') throw new UnavailableError('event_running', TAKEN_MEANWHILE);
    found = state === 'completed' ? { state } : { state: 'busy', endsAt: 0 };
  }
}

/**
 * Claims the event. The claim waits for a connection only if there is memory for the body meanwhile. A store
 * that queues claims gets all the time that the delivery can spare.
 */
function takeClaim({ claim, input, interruption, resources, services }: Run): Promise<ClaimReply> {
  const { store } = services;
  if (store.mustWait() && !resources.countBody()) return claim.takeOrProceedUnclaimed({ waitMs: 0 });
  if (!store.queuesClaims) return claim.takeOrProceedUnclaimed();
  return claim.takeOrProceedUnclaimed({
    waitMs: input.deadline.claimWaitMs(store.commandTimeoutMs),
    mayWaitLonger: () => interruption.endReason === undefined && resources.countBody(),
  });
}

/** Notes the attempt, and begins to renew the lease. */
function beginAttempt(run: Run, { result, lease }: Granted): void {
  const { input, progress, services } = run;
  const { now, retries } = services.settings;
  const { identity, origin } = input;
  run.resources.uncountBody();
  run.renewLease(lease);
  run.hasEarlierAttempt = result.attempt > 1;
  progress.attempt = origin.attempt(result);
  progress.final = origin.isFinal(isFinal(ageOf(identity.createdAtMs, now()), retries, result));
  noteHandled(progress, result.handled);
  noteHandled(progress, origin.handled);
  run.interruption.throwIfEnded();
}

/**
 * Returns true for a last attempt whose dead letter must be stored first: see `storesLetterFirst`. After an
 * attempt that may have killed its process it always is.
 */
function mustPrepare({ input, letter, progress, services }: Run, { result }: Granted): boolean {
  if (letter === undefined) return false;
  const storesFirst = input.origin.storesLetterFirst ?? services.settings.retries.storesLetterFirst;
  return progress.final && (storesFirst || result.abandoned > 0);
}

/**
 * Stores the dead letter before the handlers of a last attempt run, so that a crash loses nothing. An event
 * that may have killed its process is parked without running.
 */
async function prepareLastAttempt(run: Run, { result }: Granted): Promise<Answer | undefined> {
  const { deadline, identity, origin, routes } = run.input;
  const answerBy = deadline.handlersBeginBy;
  run.enter({ step: 'storing' });
  const earlier = origin.letter ?? (await run.letter?.find(identity.key, answerBy));
  noteHandled(run.progress, earlier?.handled ?? []);
  const signs = {
    leaseRanOut: result.abandoned > 0,
    letterWasRunning: earlier?.reason === 'run_abandoned' && earlier.runningUntil !== undefined,
  };
  const mayRun = origin.mayRunAfterCrash(signs, routes.length > 0);
  // The dead letter keeps this reason if the process dies now.
  const reason = new AbortedError('run_abandoned', 'the process ended while the handlers were running');
  const storedAs = await run.storeLetter(reason, { mayBeRunning: mayRun, answerBy });
  if (mayRun || storedAs === undefined) return undefined;
  return releaseClaim(run, accept('parked', identity.id, toReportedError(reason)));
}

function acquirePermits(run: Run, permits: ConcurrencyLimit): Promise<void> {
  run.enter({ step: 'acquiring' });
  return run.resources.acquirePermits(permits, run.progress);
}

/** Resolves with the event, whose data is the output of its schema. */
function validate(run: Run, schema: StandardSchemaV1, entity: string): Promise<ValidEvent> {
  run.enter({ step: 'validating' });
  run.interruption.startLimit(run.maxRunMs);
  return run.interruption.orAbort(validateEvent(run.input.event, schema, entity));
}

function confirm(run: Run, lease: ConfirmableLease): Promise<ConfirmableLease> {
  run.enter({ step: 'claiming' });
  return run.claim.confirmOrProceedUnclaimed(lease);
}

/** Runs the handlers on a lease that holds, and records their success. Throws their error. */
async function handleOnLease(run: Run, event: ValidEvent, lease: ConfirmableLease): Promise<Answer> {
  const { interruption, resources } = run;
  interruption.throwIfEnded();
  run.enter({ step: 'running' });
  interruption.startLimit(run.maxRunMs);
  run.handlersEnded = startHandlers(run, event, lease);
  try {
    const failure = await interruption.orAbort(run.handlersEnded);
    if (failure !== undefined) throw failure;
  } finally {
    // The limit is for the schema and the handlers. Recording their end has limits of its own.
    interruption.stopLimit();
    if (resources.missedRenewal) run.warnings.push(LEASE_EXPIRED);
  }
  return await recordSuccess(run);
}

/**
 * Runs, side by side, the handlers that have not succeeded. Then enqueues the event, if workers run other
 * handlers. Never rejects.
 */
function startHandlers(
  run: Run,
  event: ValidEvent,
  lease: ConfirmableLease,
): Promise<PosthornError | undefined> {
  const { input, interruption, progress, runId, resources, services } = run;
  const attempt = { attempt: progress.attempt ?? 1, final: progress.final };
  const around = { event, runId, attempt, interruption, labelsOf: services.labelsOf };
  const { routes, enqueue } = throughMiddlewares(input, services.middlewares, around);
  const context = new RunContext(input.identity, input, attempt, interruption);
  const open = routesToRun(routes, progress);
  const keyed = open.filter(hasKey);
  const others = keyed.length === 0 ? open : open.filter((route) => !hasKey(route));
  const handlers = keyed.length === 0 ? undefined : new KeyedHandlers(run, event, attempt, lease);
  // Handlers with keys come first, because the others may change the event, and with it the keys.
  const keyedEnds = handlers === undefined ? [] : keyed.map((route) => handlers.run(route));
  const ends: Promise<PosthornError | undefined>[] = others.map((route) =>
    runHandler(route, event, context, progress),
  );
  if (others.length > 0) handlers?.noteRunning(Promise.all(ends));
  if (services.permits !== undefined) void resources.leavePermitsTo(Promise.all(ends));
  const handled = joinEnds(ends.concat(keyedEnds), progress, input.origin.onHandled);
  return enqueue === undefined ? handled : enqueueAfter(run, handled, enqueue);
}

async function enqueueAfter(
  run: Run,
  handled: Promise<PosthornError | undefined>,
  enqueue: Enqueue,
): Promise<PosthornError | undefined> {
  const { progress, resources } = run;
  const failure = await handled;
  if (failure !== undefined) return failure;
  const refusal = await enqueue({
    handled: [...progress.handled],
    // A last attempt parks the event if the queue takes the job, but its answer is lost. After a missed
    // renewal, another process may have taken the event, and may store a dead letter of it.
    isParked: run.letterRules.mayExist || progress.final || resources.missedRenewal,
    countBody: () => resources.countBody(),
  });
  // An aborted run has given everything back already, so only this frees the memory.
  resources.uncountBody();
  return refusal;
}

const TAKEN_MEANWHILE =
  'a lease ran out before the handler could begin, and another process has taken the event, or the turn of the handler';

const LEASE_EXPIRED: Warning =
  'lease_lost: the event loop was blocked for longer than the lease; another process may have run the handlers too';
