import { requestsAreIsolated } from './isolated-requests.ts';

/** The original, for applications whose tests replace the timers of their process. */
const { setImmediate } = globalThis;

/** Calls a function once the event loop has read from its sockets; at once if requests are isolated. */
export function inNextTurn(callback: () => void): void {
  if (requestsAreIsolated) callback();
  else setImmediate(callback);
}
