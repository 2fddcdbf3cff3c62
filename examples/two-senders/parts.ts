// The parts that both receivers share. REDIS_URL is the address of Redis, which needs `appendonly yes` and
// `maxmemory-policy noeviction`: see docs/queue.md.

import type { BullQueueOptions } from 'posthorn/bullmq';
import { createRedisParts } from '../redis-parts.ts';

const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';

/** The store and the dead letters of both. */
export const shared: Awaited<ReturnType<typeof createRedisParts>> = await createRedisParts(url);

/** Returns the place of a sender's queue. In a common one each worker would get jobs of the other sender. */
export function queueOf(sender: string): BullQueueOptions {
  return { connection: { url }, scope: `example-development-${sender}` };
}
