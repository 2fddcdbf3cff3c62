/** A value, or a promise of it. `await` takes both. */
export type Awaitable<T> = T | Promise<T>;
