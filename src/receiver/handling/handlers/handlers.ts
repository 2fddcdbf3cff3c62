import { checkBegun } from '../../checks/called-functions.ts';
import { DataError, HandlerError, PermanentError, type PosthornError } from '../../errors.ts';
import type { TypedEvent } from '../../events/event-types.ts';
import { type StandardSchemaV1, validateData } from '../../events/schema.ts';
import type { HandlerReport, Rerun } from '../../outcomes/report.ts';
import type { EventIdentity } from '../../provider/event-identity.ts';
import { performance } from '../../timing/process-clock.ts';
import { dropPromise, isInstance, messageOf, propertyOf, shorten } from '../../values/foreign-values.ts';
import { type SkipReason, skipReasonOf } from './named-handler.ts';
import type { HandlerContext, Route } from './route.ts';

/** The progress of the handlers of an event; it can be read while they run. */
export interface RunProgress {
  /** The number of the attempt, once the event is claimed. */
  attempt: number | undefined;
  final: boolean;
  /** Names of the handlers that have succeeded in this attempt or an earlier one, without repetition. */
  readonly handled: string[];
  /** A report may hold this list, so it is replaced, never changed. */
  reports: readonly HandlerReport[];
}

/** Adds the names of handlers that have succeeded. */
export function noteHandled({ handled }: RunProgress, names: readonly string[]): void {
  for (const name of names) if (!handled.includes(name)) handled.push(name);
}

/** The context of handlers. Its `signal` is created when it is first read. */
export class RunContext implements HandlerContext {
  readonly event: EventIdentity;
  readonly attempt: number;
  readonly final: boolean;
  readonly deadlineAt: number;
  readonly receivedAt: number;
  readonly rawBody: Uint8Array;
  declare readonly signal: AbortSignal;
  declare readonly rerun?: Rerun | undefined;
  readonly #source: { readonly signal: AbortSignal };

  constructor(
    event: EventIdentity,
    {
      deadlineAt,
      receivedAt,
      rawBody,
      rerun,
    }: Pick<HandlerContext, 'deadlineAt' | 'receivedAt' | 'rawBody' | 'rerun'>,
    { attempt, final }: Pick<HandlerContext, 'attempt' | 'final'>,
    source: { readonly signal: AbortSignal },
  ) {
    this.event = event;
    this.attempt = attempt;
    this.final = final;
    this.deadlineAt = deadlineAt;
    this.receivedAt = receivedAt;
    this.rawBody = rawBody;
    if (rerun !== undefined) this.rerun = rerun;
    this.#source = source;
    // A copy, `{ ...context }`, has own properties only.
    Object.defineProperty(this, 'signal', RunContext.#signal);
  }

  /**
   * All contexts share it: with a getter for each context, a delivery took a tenth longer in `bench/compare`.
   */
  static readonly #signal: PropertyDescriptor & ThisType<RunContext> = {
    enumerable: true,
    get() {
      return this.#source.signal;
    },
  };
}

/** An event whose data is the output of its entity's schema, if there is a schema. */
export type ValidEvent = TypedEvent;

/** Resolves with the event, whose data is the output of the schema. Rejects with DataError. */
export async function validateEvent(
  event: TypedEvent,
  schema: StandardSchemaV1,
  entity: string,
): Promise<ValidEvent> {
  const checked = await validateData(schema, propertyOf(event, 'data'), entity);
  if (checked instanceof DataError) throw checked;
  const { data } = checked;
  return Object.assign({ ...event }, { data });
}

/** Returns the handlers that are not known to have succeeded. Those without a name always run. */
export function routesToRun(routes: readonly Route[], { handled }: RunProgress): readonly Route[] {
  if (handled.length === 0) return routes;
  return routes.filter(({ name }) => name === undefined || !handled.includes(name));
}

/**
 * Resolves with the error of those handlers that failed, or with undefined, once all have ended. `onHandled`
 * is called each time that one with a name succeeds while others still run.
 */
export function joinEnds(
  ends: readonly Promise<PosthornError | undefined>[],
  progress: RunProgress,
  onHandled?: (handled: readonly string[]) => void,
): Promise<PosthornError | undefined> {
  const [only] = ends;
  if (only !== undefined && ends.length === 1) return only;
  if (onHandled !== undefined) callOnHandled(ends, progress, onHandled);
  return Promise.all(ends).then(merge);
}

function callOnHandled(
  all: readonly Promise<unknown>[],
  { handled }: RunProgress,
  onHandled: (handled: readonly string[]) => void,
): void {
  let running = all.length;
  let passedOn = handled.length;
  const noteEnd = (): void => {
    running -= 1;
    if (running === 0 || handled.length === passedOn) return;
    passedOn = handled.length;
    try {
      dropPromise(onHandled([...handled]));
    } catch {
      // At worst, a run after a crash runs these handlers again.
    }
  };
  for (const one of all) void one.then(noteEnd);
}

/**
 * Runs a handler. Resolves with its error, or with undefined. Never throws or rejects, whatever the handler
 * throws. `keyWaitMs` is the time that it waited for its key.
 */
export async function runHandler(
  { name, handle }: Route,
  event: ValidEvent,
  context: HandlerContext,
  progress: RunProgress,
  keyWaitMs?: number,
): Promise<HandlerError | undefined> {
  const startedAt = performance.now();
  const end = (ok: boolean, skipped?: SkipReason): void => {
    const waited = keyWaitMs === undefined ? undefined : { keyWaitMs };
    const report = { name, ok, durationMs: performance.now() - startedAt, ...waited };
    noteReport(progress, skipped === undefined ? report : { ...report, skipped });
  };
  try {
    end(true, skipReasonOf(checkBegun(await handle(event, context))));
  } catch (error) {
    end(false);
    return oneFailed(name, error);
  }
  if (name !== undefined) noteHandled(progress, [name]);
  return undefined;
}

/** Notes a handler whose key could not be read, and returns its error. */
export function failHandler(name: string, error: unknown, progress: RunProgress): HandlerError {
  noteReport(progress, { name, ok: false, durationMs: 0 });
  return handlerError(`concurrencyKey of the handler "${name}" failed: ${messageOf(error)}`, [error]);
}

function noteReport(progress: RunProgress, report: HandlerReport): void {
  progress.reports = [...progress.reports, report];
}

function oneFailed(name: string | undefined, error: unknown): HandlerError {
  const subject = name === undefined ? 'a handler' : `the handler "${name}"`;
  return handlerError(`${subject} failed: ${messageOf(error)}`, [error]);
}

/**
 * Joins the errors of the handlers that failed. If none failed, returns the error of one that could not
 * begin.
 */
function merge(ends: readonly (PosthornError | undefined)[]): PosthornError | undefined {
  const failures = ends.filter((end) => end instanceof HandlerError);
  if (failures.length < 2) return failures[0] ?? ends.find((end) => end !== undefined);
  const errors = failures.flatMap((failed) => failed.errors);
  return handlerError(shorten(failures.map(({ message }) => message).join('; ')), errors);
}

function handlerError(message: string, thrown: readonly unknown[]): HandlerError {
  // A permanent failure comes first: it is the reason why the event is parked.
  const errors = thrown.toSorted((a, b) => Number(isPermanent(b)) - Number(isPermanent(a)));
  const code = isPermanent(errors[0]) ? 'handler_failed_permanently' : 'handler_failed';
  return new HandlerError(code, message, errors);
}

function isPermanent(error: unknown): boolean {
  return isInstance(error, PermanentError);
}
