import { handlingId } from '../../dedupe/claim-id.ts';
import { AbortedError, EventError, JobError, UnavailableError } from '../../errors.ts';
import { type Answer, accept, refuse } from '../../outcomes/outcome.ts';
import { checkSender, type EventMembers } from '../../provider/event-identity.ts';
import { isReadFailure } from '../../provider/read-failure.ts';
import { type ReadJob, readJob } from '../../queue/queued-job.ts';
import { isInstance, messageOf } from '../../values/foreign-values.ts';
import type { Route } from '../handlers/route.ts';
import type { Router } from '../handlers/router.ts';
import { jobOrigin } from '../run/origin.ts';
import type { Run } from '../run/run.ts';
import type { Answered } from './answered.ts';
import type { Arrival } from './arrival.ts';
import type { FilledDispatchOptions } from './dispatch-options.ts';
import { parkFailedJob } from './park-failed-job.ts';
import { parkRefused } from './park-refused.ts';
import { membersOfRefused, type ParsedEvent, parseEvent } from './read-event.ts';
import type { ReceiverServices } from './receiver-services.ts';

/**
 * Runs the queued handlers of a job in a worker, and waits for their end. Or parks the event of a job that
 * its queue has given up. Throws if this process cannot read the job.
 */
export async function dispatch(
  services: ReceiverServices,
  value: unknown,
  options: FilledDispatchOptions,
  arrival: Arrival,
): Promise<Answered> {
  const read = readJob(value);
  const job = { ...read, handled: [...new Set([...read.handled, ...options.handled])] };
  const { attempt, failure } = options;
  let known: EventMembers | undefined;
  try {
    checkSender(job, services.settings.provider, 'the job');
    const parsed = parseJobEvent(job, services);
    known = parsed.identity;
    arrival.checkNotClosing();
    if (failure === undefined)
      return { event: known, ...(await runJob(services, job, parsed, options, arrival)) };
    const answer = await parkFailedJob(
      services,
      { ...job, identity: parsed.identity, attempt, failure },
      arrival,
    );
    return { event: known, content: job, answer };
  } catch (error) {
    const refused = refuse(isReadFailure(error) ? error.cause : error);
    const { code } = refused.error;
    const isMissing = code === 'handler_missing' && options.parksMissing;
    const mustPark = options.final && (isMissing || code === 'internal_error');
    const attemptInfo = { attempts: attempt, handled: job.handled };
    const event = known ?? {
      ...membersOfRefused(isInstance(error, JobError) ? error.cause : error),
      account: job.account,
    };
    if (!mustPark) return { event, answer: refused };
    return {
      event,
      content: job,
      answer: await parkRefused(services, refused, { ...job, event }, arrival, attemptInfo),
    };
  }
}

/** Returns true for a job of this provider whose event can be read. */
export function canReadJob(services: ReceiverServices, value: unknown): boolean {
  try {
    const job = readJob(value);
    checkSender(job, services.settings.provider, 'the job');
    parseJobEvent(job, services);
    return true;
  } catch {
    return false;
  }
}

async function runJob(
  { completions, router, runs, settings }: ReceiverServices,
  job: ReadJob,
  { event, identity }: ParsedEvent,
  options: FilledDispatchOptions,
  { deadline }: Arrival,
): Promise<Answered> {
  const { rawBody, headers, receivedAt } = job;
  const { id, key, type } = identity;
  const claimId = handlingId(key);
  const routes = workerRoutes(router, type, job);
  if (completions.has(claimId)) return { answer: accept('duplicate', id) };
  if (runs.find(claimId) !== undefined)
    throw new UnavailableError('event_running', 'this process is handling the event already');
  const deadlineAt = settings.now() + settings.maxRunMs;
  const times = { receivedAt, deadlineAt, deadline };
  const origin = jobOrigin(job, options);
  const run = runs.start({ identity, claimId, event, rawBody, headers, ...times, routes, origin });
  return { followed: { run, joined: false }, answer: await settledOrAborted(run, options.signal) };
}

/** Waits for a run, and ends it when the signal aborts. */
async function settledOrAborted(run: Run, signal: AbortSignal | undefined): Promise<Answer> {
  const abort = (): void => {
    run.interruption.end(
      new AbortedError('run_closed', 'the worker gave the job up', { cause: signal?.reason }),
    );
  };
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort);
  const answer = await run.answer.settled();
  signal?.removeEventListener('abort', abort);
  return answer;
}

/** The event passed its checks before it was queued, so only damage can make it invalid. */
function parseJobEvent(job: ReadJob, { settings }: ReceiverServices): ParsedEvent {
  try {
    return parseEvent(job, settings);
  } catch (cause) {
    if (!(cause instanceof EventError)) throw cause;
    const message = `the body of the job is not an event: ${messageOf(cause)}`;
    throw new JobError('job_unreadable', message, { cause });
  }
}

/**
 * Returns the handlers that a worker runs: the queued ones for the type, and all that the job names. Throws
 * if one is missing: this worker may be older than the receiver, or newer.
 */
function workerRoutes(router: Router, type: string, { handlers }: ReadJob): readonly Route[] {
  const all = router.match(type);
  const missing = handlers.filter((wanted) => !all.some(({ name }) => name === wanted));
  const isWanted = ({ name, queued }: Route): boolean =>
    queued || (name !== undefined && handlers.includes(name));
  const routes = all.filter(isWanted);
  if (missing.length === 0 && routes.length > 0) return routes;
  const names = missing.map((name) => `"${name}"`).join(', ') || 'a handler with queue: true';
  throw new JobError(
    'handler_missing',
    `this worker lacks ${names} for ${type}: give it the handlers of the receiver, or wait for the end of the deploy`,
  );
}
