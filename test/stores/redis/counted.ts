import type { IoredisClient } from 'posthorn/redis';

/** An object around a client of ioredis that counts the keys of each command. */
export function counted(
  client: IoredisClient,
  isCluster: boolean,
): { readonly client: IoredisClient; readonly sent: readonly number[] } {
  const sent: number[] = [];
  return {
    sent,
    client: {
      isCluster,
      get status() {
        return client.status;
      },
      eval: client.eval.bind(client),
      disconnect: client.disconnect.bind(client),
      evalsha: (sha1, keyCount, ...rest) => {
        sent.push(keyCount);
        return client.evalsha(sha1, keyCount, ...rest);
      },
    },
  };
}
