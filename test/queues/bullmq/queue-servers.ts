import { usePostgresQueueServer } from './postgres-queue-server.ts';
import type { QueueServer } from './queue-server.ts';
import { useRedisQueueServer } from './redis-queue-server.ts';

/** The servers on which a queue behaves alike. Each suite has one of its own. */
export const queueServers: readonly { readonly name: string; readonly useServer: () => QueueServer }[] = [
  { name: 'Redis', useServer: useRedisQueueServer },
  { name: 'PostgreSQL', useServer: usePostgresQueueServer },
];
