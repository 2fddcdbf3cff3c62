/**
 * What is known already, or is yet to come. Each `await` and each asynchronous function costs a delivery as much as its
 * routing does, so nothing is awaited that is there.
 */
export type MaybePromise<T> = T | Promise<T>;

/** Whether it is yet to come. */
export function isPending<T>(value: MaybePromise<T>): value is Promise<T> {
  return value instanceof Promise;
}
