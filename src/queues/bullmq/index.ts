export type { BullConnectionOptions, BullPostgresOptions, BullRedisOptions } from './connection.ts';
export { migrateBullQueue } from './postgres/migrate.ts';
export type { QueueClient, QueueNotification, QueuePool } from './postgres/pool.ts';
export { type BullMemoryOptions, type BullQueueOptions, createBullQueue } from './queue.ts';
export type { BullConcurrencyOptions, BullReceiver, BullWorker, BullWorkerOptions } from './worker.ts';
export { createBullWorker } from './worker.ts';
