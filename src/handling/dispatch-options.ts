import { checkOptions, invalidOption, readInteger } from '../check-options.ts';
import { show } from '../foreign-values.ts';

/** Options of `receiver.dispatch`: the facts of a job that only its worker knows. */
export interface DispatchOptions {
  /** The number of this attempt to run the job, from 1. */
  readonly attempt: number;
  /**
   * Whether it is the last attempt of the queue. The letter is then stored before the handlers run, and
   * removed when they succeed.
   */
  readonly final: boolean;
  /** Gives the job up: its handlers are aborted, and the queue must put the job back (`run_closed`). */
  readonly signal?: AbortSignal | undefined;
  /**
   * Whether a last attempt in a worker that lacks a handler of the job (`handler_missing`) parks the event;
   * true by default. With false it fails: the queue puts the job back for a worker that has the handler.
   */
  readonly parksMissing?: boolean | undefined;
  /**
   * Whether a last attempt parks the event, without running it, if a process has died with the event before:
   * the event may be what kills it. True by default; false if the queue itself finds out which job kills a
   * process.
   */
  readonly parksAbandoned?: boolean | undefined;
}

/** Checks the options. Throws {@link ConfigurationError}. */
export function readDispatchOptions(options: DispatchOptions): DispatchOptions {
  const names = ['attempt', 'final', 'signal', 'parksMissing', 'parksAbandoned'];
  checkOptions(options, names, 'dispatch()');
  const { final, signal, parksMissing = true, parksAbandoned = true } = options;
  const attempt = readInteger('attempt of dispatch()', options.attempt);
  for (const [name, value] of Object.entries({ final, parksMissing, parksAbandoned })) {
    if (typeof value !== 'boolean')
      throw invalidOption(`${name} of dispatch()`, `must be true or false, got ${show(value)}`);
  }
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw invalidOption('signal of dispatch()', `must be an AbortSignal, got ${show(signal)}`);
  return { attempt, final, signal, parksMissing, parksAbandoned };
}
