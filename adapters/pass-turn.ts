/** The originals, for applications whose tests replace the timers of their process. */
const { setImmediate, setTimeout } = globalThis;

/** Resolves after the event loop has run its timers and read from its sockets. */
export function passTurn(): Promise<void> {
  return new Promise((resolve) => {
    // Not every runtime of web requests has setImmediate.
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
