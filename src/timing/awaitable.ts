/** A value, at once or as a promise. `await` takes both. */
export type Awaitable<T> = T | Promise<T>;
