import type { JsonOption } from '../options.ts';

/** The options of `posthorn events accept`. */
export interface AcceptCommandOptions extends JsonOption {
  readonly receiver: string;
  readonly dryRun?: boolean;
  readonly type?: string;
  readonly concurrency: number;
  /** The number of events that run. */
  readonly limit?: number;
  readonly bail?: boolean;
  readonly account?: string;
  readonly allowForgotten?: boolean;
  readonly yes?: boolean;
}
