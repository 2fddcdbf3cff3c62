import { requestsAreIsolated } from './isolated-requests.ts';
import { setImmediate } from './process-clock.ts';

/** Calls a function once the event loop has read from its sockets; at once if requests are isolated. */
export function inNextTurn(callback: () => void): void {
  if (requestsAreIsolated) callback();
  else setImmediate(callback);
}
