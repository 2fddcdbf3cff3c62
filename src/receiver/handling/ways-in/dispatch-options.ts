import { checkOptions, invalidOption, readInteger } from '../../checks/check-options.ts';
import { isReportCode, type ReportCode } from '../../refusals.ts';
import { isAbortSignal, propertyOf, show } from '../../values/foreign-values.ts';

/** Why a queue has given a job up. */
export interface JobFailure {
  /** The code of its last error, for example `handler_failed`. */
  readonly code: ReportCode;
  /** The message of that error. */
  readonly message: string;
}

/** Options of `receiver.dispatch`: the facts of a job that only its worker knows. */
export interface DispatchOptions {
  /** The number of this attempt to run the job, from 1. */
  readonly attempt: number;
  /**
   * True for the last attempt of the queue. The dead letter is then stored before the handlers run, and
   * removed when they succeed.
   */
  readonly final: boolean;
  /** Gives the job up: its handlers are aborted, and the queue must put the job back (`run_closed`). */
  readonly signal?: AbortSignal | undefined;
  /**
   * True if a last attempt in a worker that lacks a handler of the job (`handler_missing`) parks the event;
   * true by default. With false it fails: the queue puts the job back for a worker that has the handler.
   */
  readonly parksMissing?: boolean | undefined;
  /**
   * True if a last attempt that finds the key of a handler busy (`key_busy`) parks the event; false by
   * default: the queue puts the job back, as after any `busy`, and does not count the attempt.
   */
  readonly parksBusyKey?: boolean | undefined;
  /**
   * True if, after a crash, a last attempt parks the event without running it: the event may kill the process
   * again. True by default; false if the queue itself finds such jobs.
   */
  readonly parksAbandoned?: boolean | undefined;
  /**
   * Why the queue has given the job up, if it has: the event is parked for this reason, and no handler runs.
   * The event is claimed meanwhile, so that no dead letter is written of an event that is being handled
   * (`busy`), or was handled (`duplicate`). The job can be removed after `parked` and `duplicate`.
   */
  readonly failure?: JobFailure | undefined;
  /**
   * Names of handlers that have succeeded in earlier attempts, as `onHandled` got them: they do not run
   * again.
   */
  readonly handled?: readonly string[] | undefined;
  /**
   * Called when a handler has succeeded while others of the event are still running, with the names of all
   * that have succeeded so far. The store gets the names when the run ends. If a queue keeps them, these
   * handlers do not run again after a crash. The receiver ignores errors of `onHandled`, and does not wait
   * for it.
   */
  readonly onHandled?: ((handled: readonly string[]) => void) | undefined;
}

/** The options with their defaults. */
export interface FilledDispatchOptions extends DispatchOptions {
  readonly parksMissing: boolean;
  readonly parksBusyKey: boolean;
  readonly parksAbandoned: boolean;
  readonly handled: readonly string[];
}

/** Checks the options, and fills in the defaults. Throws {@link ConfigurationError}. */
export function readDispatchOptions(options: DispatchOptions): FilledDispatchOptions {
  const names = ['attempt', 'final', 'signal', 'parksMissing', 'parksBusyKey', 'parksAbandoned'];
  checkOptions(options, [...names, 'failure', 'handled', 'onHandled'], 'dispatch()');
  const { final, signal, parksMissing = true, parksBusyKey = false, parksAbandoned = true } = options;
  const { failure, handled = [], onHandled } = options;
  const attempt = readInteger('attempt of dispatch()', options.attempt);
  for (const [name, value] of Object.entries({ final, parksMissing, parksBusyKey, parksAbandoned })) {
    if (typeof value !== 'boolean')
      throw invalidOption(`${name} of dispatch()`, `must be true or false, got ${show(value)}`);
  }
  if (signal !== undefined && !isAbortSignal(signal))
    throw invalidOption('signal of dispatch()', `must be an AbortSignal, got ${show(signal)}`);
  if (failure !== undefined && !isJobFailure(failure))
    throw invalidOption(
      'failure of dispatch()',
      `must be the { code, message } of an error that a report can have, got ${show(failure)}`,
    );
  if (!Array.isArray(handled) || !handled.every((name) => typeof name === 'string'))
    throw invalidOption('handled of dispatch()', `must be a list of names, got ${show(handled)}`);
  if (onHandled !== undefined && typeof onHandled !== 'function')
    throw invalidOption('onHandled of dispatch()', `must be a function, got ${show(onHandled)}`);
  const parks = { parksMissing, parksBusyKey, parksAbandoned };
  return { attempt, final, signal, ...parks, failure, handled, onHandled };
}

function isJobFailure(value: unknown): boolean {
  const [code, message] = [propertyOf(value, 'code'), propertyOf(value, 'message')];
  return typeof code === 'string' && isReportCode(code) && typeof message === 'string';
}
