import type { Queue as BullQueue } from 'bullmq';
import type { IoredisConnection } from '../../../stores/redis/clients/ioredis.ts';

/**
 * The connection of a queue. BullMQ hands out its client only after the first connection, so until then it
 * counts as connecting.
 */
export function connectionOf(bull: BullQueue): IoredisConnection {
  let client: IoredisConnection | undefined;
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
        // Earlier events are not repeated.
        listener();
      }),
  };
}
