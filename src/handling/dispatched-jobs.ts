import { checkOptions, invalidOption, readInteger } from '../check-options.ts';
import { handlingId } from '../dedupe/claim-id.ts';
import { AbortedError, JobError, UnavailableError } from '../errors.ts';
import { type AnyEvent, createdAtMs, parseEvent } from '../events/event.ts';
import { messageOf, show } from '../foreign-values.ts';
import { type Answer, accept, refuse } from '../outcomes/outcome.ts';
import { type ReadJob, readJob } from '../queue/queued-job.ts';
import type { EventHandling } from './event-handling.ts';
import { workerRoutes } from './queued-handlers.ts';
import type { Run } from './run.ts';
import type { Trace } from './trace.ts';

/** What a worker says of a job that it has `receiver.dispatch` run. */
export interface DispatchOptions {
  /** The number of this attempt to run the job, from 1. */
  readonly attempt: number;
  /**
   * Whether it is the last attempt of the queue. The letter is then stored before the handlers run, and taken
   * out when they succeed.
   */
  readonly final: boolean;
  /** Gives the job up: its handlers are aborted, and it is to be put back (`run_closed`). */
  readonly signal?: AbortSignal | undefined;
  /**
   * Whether a last attempt in a worker that lacks a handler of the job (`handler_missing`) parks the event;
   * true by default. With false it fails: the queue puts the job back for a worker that has the handler.
   */
  readonly parksMissing?: boolean | undefined;
  /**
   * Whether a last attempt parks the event, without running it, if a process has died with the event before:
   * the event may be what kills it. True by default; false if the queue finds out by itself which job does.
   */
  readonly parksAbandoned?: boolean | undefined;
}

/** Runs the jobs of a queue, in a worker. */
export class DispatchedJobs {
  readonly #handling: EventHandling;

  constructor(handling: EventHandling) {
    this.#handling = handling;
  }

  /**
   * Runs the queued handlers of a job; waits for their end. Throws for a job that this process cannot run,
   * and where it runs the event already: nothing has been claimed then.
   */
  async run(value: unknown, attempt: DispatchOptions, trace: Trace): Promise<Answer> {
    const job = readJob(value);
    const event = parseJobEvent(job);
    trace.event = { id: event.id, type: event.type };
    if (trace.closing) throw new UnavailableError('closing', 'the receiver is closing');
    try {
      return await this.#runEvent(job, event, attempt, trace);
    } catch (error) {
      const refused = refuse(error);
      const isMissing = refused.error.code === 'handler_missing';
      const mustPark = isMissing && attempt.final && attempt.parksMissing !== false;
      const content = { rawBody: job.rawBody, headers: job.headers, receivedAt: job.receivedAt };
      const attemptInfo = { attempts: attempt.attempt, handled: job.handled };
      return mustPark ? this.#handling.park(refused, content, trace, attemptInfo) : refused;
    }
  }

  async #runEvent(job: ReadJob, event: AnyEvent, attempt: DispatchOptions, trace: Trace): Promise<Answer> {
    const { router, runs, settings } = this.#handling;
    const { rawBody, headers, receivedAt, handled, isParked, traceContext } = job;
    const { id } = event;
    const claimId = handlingId(id);
    const routes = workerRoutes(router, event.type, job);
    if (runs.isCompletionPending(claimId)) return accept('duplicate', id);
    if (runs.find(claimId) !== undefined)
      throw new UnavailableError('event_running', 'this process is handling the event already');
    const { deadline, deadlineMs } = trace;
    const deadlineAt = settings.now() + settings.maxRunMs;
    const times = { createdAt: createdAtMs(event), receivedAt, deadlineAt, deadline, deadlineMs };
    const dispatched = { ...attempt, isParked, handled, traceContext };
    const run = runs.start({ id, claimId, event, rawBody, headers, ...times, routes, dispatched });
    trace.run = run;
    return settledOrAborted(run, attempt.signal);
  }
}

/** Checks what a worker says. Throws {@link ConfigurationError}. */
export function readAttempt(options: DispatchOptions): DispatchOptions {
  const names = ['attempt', 'final', 'signal', 'parksMissing', 'parksAbandoned'];
  checkOptions(options, names, 'dispatch()');
  const { final, signal, parksMissing = true, parksAbandoned = true } = options;
  const attempt = readInteger('attempt of dispatch()', options.attempt, 1, Number.MAX_SAFE_INTEGER);
  if (typeof final !== 'boolean')
    throw invalidOption('final of dispatch()', `must be true or false, got ${show(final)}`);
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw invalidOption('signal of dispatch()', `must be an AbortSignal, got ${show(signal)}`);
  for (const [name, value] of Object.entries({ parksMissing, parksAbandoned })) {
    if (typeof value !== 'boolean')
      throw invalidOption(`${name} of dispatch()`, `must be true or false, got ${show(value)}`);
  }
  return { attempt, final, signal, parksMissing, parksAbandoned };
}

/** Waits for a run, and gives it up when the signal aborts. */
async function settledOrAborted(run: Run, signal: AbortSignal | undefined): Promise<Answer> {
  const abort = (): void => {
    run.abort(new AbortedError('run_closed', 'the worker gave the job up', { cause: signal?.reason }));
  };
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort);
  const answer = await run.answer.settled();
  signal?.removeEventListener('abort', abort);
  return answer;
}

/** A job passed the checks of its event when it was queued, so nothing but damage can have changed it. */
function parseJobEvent({ rawBody }: ReadJob): AnyEvent {
  try {
    return parseEvent(rawBody);
  } catch (cause) {
    throw new JobError('job_unreadable', `the body of the job is no event: ${messageOf(cause)}`, { cause });
  }
}
