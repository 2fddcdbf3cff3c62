import type { MaybePromise } from '../timing/maybe-promise.ts';

type Operation<Request, Result> = (request: Request) => Promise<Result>;
type TimelyForm<Request, Result> = (request: Request) => MaybePromise<Result>;

const forms = new WeakMap<object, unknown>();

/**
 * Makes an operation of a store out of a form that answers at once, or rejects with an UnavailableError when
 * `commandTimeoutMs` is over. The operation is what every store's is, a function that returns a promise; a receiver finds
 * the form by {@link timelyForm}, and spares itself a promise or a time limit.
 */
export function toOperation<Request, Result>(form: TimelyForm<Request, Result>): Operation<Request, Result> {
  const operation = async (request: Request): Promise<Result> => form(request);
  forms.set(operation, form);
  return operation;
}

/**
 * The form that needs no time limit, if there is one. It goes with the function, not with the store: whoever wraps a store
 * or puts another function in its place is heard.
 */
export function timelyForm<Request, Result>(
  operation: Operation<Request, Result>,
): TimelyForm<Request, Result> | undefined {
  // Under an operation lies nothing but its own form: toOperation is the only writer.
  return forms.get(operation) as TimelyForm<Request, Result> | undefined;
}
