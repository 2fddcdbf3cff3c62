import type { Queue as BullQueue } from 'bullmq';
import type { IoredisConnection } from '../../../stores/redis/clients/ioredis.ts';

/**
 * Returns the connection of a queue. BullMQ hands out its client only once it is connected, so until then the
 * client counts as connecting.
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
