import { propertyOf } from '../foreign-values.ts';
import type { HandlerReport } from '../outcomes/report.ts';

// `Symbol.for`, because the inbox and the receiver can come from two copies of posthorn.
const NAME = Symbol.for('posthorn.handlerName');
const SKIPPED = Symbol.for('posthorn.skipped');

/** Why a handler has skipped an event, which then counts as handled. */
export type SkipReason = NonNullable<HandlerReport['skipped']>;

/** Gives a handler the name under which `on` registers it. `Function.name` does not count. */
export function nameHandler<Handler extends (...parameters: never[]) => unknown>(
  name: string,
  handler: Handler,
): Handler {
  return Object.defineProperty(handler, NAME, { value: name });
}

/** The name that a handler was given by {@link nameHandler}. */
export function nameOf(handler: unknown): string | undefined {
  const name = propertyOf(handler, NAME);
  return typeof name === 'string' ? name : undefined;
}

/** The result of a handler that has skipped the event: its report says so. */
export function skipped(reason: SkipReason): object {
  return { [SKIPPED]: reason };
}

/** Why the handler that returned this has skipped the event; undefined if it has not. */
export function skipReasonOf(returned: unknown): SkipReason | undefined {
  if (typeof returned !== 'object' || returned === null) return undefined;
  const reason = propertyOf(returned, SKIPPED);
  return reasons.find((known) => known === reason);
}

const reasons: readonly SkipReason[] = ['handled_before', 'superseded'];
