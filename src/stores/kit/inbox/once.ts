import { checkFunction } from '../../../receiver/checks/called-functions.ts';
import { checkOptions } from '../../../receiver/checks/check-options.ts';
import { toKey } from '../../../receiver/dedupe/store.ts';
import { ConfigurationError } from '../../../receiver/errors.ts';
import { RunContext } from '../../../receiver/handling/handlers/handlers.ts';
import { nameHandler, type SkipReason, skipped } from '../../../receiver/handling/handlers/named-handler.ts';
import type { HandlerContext } from '../../../receiver/handling/handlers/route.ts';
import { show } from '../../../receiver/values/foreign-values.ts';
import type { HandlerNames } from './handler-names.ts';
import { type LatestEvent, type RankedKey, readLatest } from './latest.ts';

/** An event of the default provider, as far as an inbox was interested in it before there were others. */
export interface InboxEvent {
  /** The id, which no other event has. */
  readonly id: string;
  /** A time in ISO 8601. */
  readonly created_at: string;
}

/** Options of `inbox.once`. */
export interface OnceOptions<Event> {
  /**
   * Returns a key, such as the id of the resource. An event is skipped if this handler has handled a newer
   * one with the same key. If the key is undefined or empty, because the data lacks it, the attempt fails.
   * `{ key, rank }` compares events of the same `created_at` by their rank; a key alone has the rank 0.
   */
  readonly latest?: (event: Event) => string | RankedKey | undefined;
}

/** The arguments of `inbox.once`, with the scope and the names, which inboxes can share. */
export interface OnceArguments<Event> {
  readonly scope: string;
  readonly names: HandlerNames;
  readonly name: string;
  readonly handler: (...parameters: never[]) => unknown;
  readonly options: OnceOptions<Event>;
}

/** The key of the record that a handler has handled an event. */
export interface RecordKey {
  readonly scope: string;
  readonly eventKey: string;
  /** The name of the handler. */
  readonly handler: string;
  /** The name of the rerun whose record it is. Undefined for the record of the event. */
  readonly rerun?: string | undefined;
}

/** One run of a handler for an event. */
export interface OnceRun extends RecordKey {
  /** The key and the values to compare; undefined if `once` has no option `latest`. */
  readonly latest: LatestEvent | undefined;
}

/**
 * Creates the handler that `inbox.once` returns. `runOnce` runs the handler of the application in a
 * transaction with the record of the event, or resolves with the reason for skipping it. `hasRecord` looks
 * for the record. Throws {@link ConfigurationError}.
 */
export function onceHandler<Event>(
  { scope, names, name, handler, options }: OnceArguments<Event>,
  runOnce: (run: OnceRun, event: Event, context: HandlerContext) => Promise<SkipReason | undefined>,
  hasRecord: (key: RecordKey) => Promise<boolean>,
): (event: Event, context: HandlerContext) => Promise<unknown> {
  checkOnce(name, handler, options);
  const { latest } = options;
  const handleOnce = async (event: Event, context: HandlerContext): Promise<unknown> => {
    const run: OnceRun = {
      scope,
      eventKey: toKey(context.event.key),
      handler: name,
      rerun: context.rerun?.run,
      // Read before the transaction begins, because it may throw.
      latest: latest === undefined ? undefined : readLatest(name, latest(event), context.event),
    };
    const reason = await runOnce(run, event, context);
    return reason === undefined ? undefined : skipped(reason);
  };
  return nameHandler(name, handleOnce, {
    takeName: (receiver) => names.register(name, handler, receiver),
    hasHandled: (eventKey) => hasRecord({ scope, eventKey: toKey(eventKey), handler: name }),
  });
}

/** Returns a context for the handler of the application: that of the delivery, with a member of the inbox. */
export function contextWith<Member extends object>(
  context: HandlerContext,
  member: Member,
): HandlerContext & Member {
  return Object.assign(new RunContext(context.event, context, context, context), member);
}

/** This much of the delivery's time is kept, so that its report can say why the handler did not begin. */
const RESERVE_MS = 200;
/** The least wait: `deadlineAt` may be by another clock, the option `now` of the receiver. */
const LEAST_MS = 1_000;

/** The longest wait of a handler until it begins, in milliseconds. */
export function timeToBegin({ deadlineAt }: Pick<HandlerContext, 'deadlineAt'>): number {
  return Math.max(deadlineAt - Date.now() - RESERVE_MS, LEAST_MS);
}

function checkOnce(name: unknown, handler: unknown, options: unknown): void {
  if (typeof name !== 'string' || !/^[^\0]{1,100}$/su.test(name) || !name.isWellFormed()) {
    throw new ConfigurationError(
      `the name of a handler must be a text of 1 to 100 characters, got ${show(name)}`,
    );
  }
  checkFunction(handler, 'the handler of once()');
  checkOptions(options, ['latest'], 'once()');
}
