import type { Queue as BullQueue } from 'bullmq';
import type { Connection } from '../redis/readiness.ts';

/**
 * The connection of a queue. BullMQ hands its client out only once that has connected for the first time, so
 * until then the connection counts as one that connects.
 */
export function connectionOf(bull: BullQueue): Connection {
  let client: Connection | undefined;
  let hasFailed = false;
  const started = bull.getBackend().client.then(
    (connected) => {
      client = connected;
    },
    // BullMQ does not try again.
    () => {
      hasFailed = true;
    },
  );
  return {
    get status() {
      return client?.status ?? (hasFailed ? 'end' : 'connecting');
    },
    on: (event, listener) =>
      started.then(() => {
        client?.on?.(event, listener);
        // Events that came before are not repeated.
        listener();
      }),
  };
}
