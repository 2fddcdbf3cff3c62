import type { HandlerReport, Warning } from '../../outcomes/report.ts';
import { propertyOf } from '../../values/foreign-values.ts';

// `Symbol.for`, because the inbox and the receiver can come from two copies of posthorn.
const NAME = Symbol.for('posthorn.handlerName');
const TAKE_NAME = Symbol.for('posthorn.takeHandlerName');
const HAS_HANDLED = Symbol.for('posthorn.hasHandled');
const SKIPPED = Symbol.for('posthorn.skipped');

/** Why a handler has skipped an event, which then counts as handled. */
export type SkipReason = NonNullable<HandlerReport['skipped']>;

/**
 * Takes the name of a handler for a receiver that registers it. Throws if the receiver has another handler of
 * this name in the same inbox. Returns true if another receiver has such a handler, and no warning has said
 * so yet.
 */
type TakeName = (receiver: object) => boolean;

/** Resolves with true if the handler has a record that it has handled the event with this key. */
type HasHandled = (eventKey: string) => Promise<boolean>;

/** The functions that a handler of an inbox brings along. */
interface NamedHandlerParts {
  readonly takeName: TakeName;
  readonly hasHandled: HasHandled;
}

/** Gives a handler the name under which `on` registers it. `Function.name` does not count. */
export function nameHandler<Handler extends (...parameters: never[]) => unknown>(
  name: string,
  handler: Handler,
  { takeName, hasHandled }: NamedHandlerParts,
): Handler {
  return Object.defineProperties(handler, {
    [NAME]: { value: name },
    [TAKE_NAME]: { value: takeName },
    [HAS_HANDLED]: { value: hasHandled },
  });
}

/** The name that a handler was given by {@link nameHandler}. */
export function nameOf(handler: unknown): string | undefined {
  const name = propertyOf(handler, NAME);
  return typeof name === 'string' ? name : undefined;
}

/** Calls the {@link TakeName} of a handler, if it has one. Returns the warning if that returns true. */
export function takeNameOf(handler: unknown, receiver: object): Warning | undefined {
  const takeName = propertyOf(handler, TAKE_NAME);
  if (typeof takeName !== 'function' || takeName(receiver) !== true) return undefined;
  const problem = `two receivers of this process have different handlers "${nameOf(handler)}" in one inbox`;
  return `inbox_name_shared: ${problem}: each skips what the other has handled; give each a name of its own`;
}

/** Resolves with true if a handler has a record that it has handled the event. Most handlers keep none. */
export async function hasHandled(handler: unknown, eventKey: string): Promise<boolean> {
  const ask = propertyOf(handler, HAS_HANDLED);
  return typeof ask === 'function' && (await Reflect.apply(ask, undefined, [eventKey])) === true;
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
