export type { BullConnectionOptions } from './connection.ts';
export { migrateBullQueue } from './postgres/migrate.ts';
export { type BullQueueOptions, createBullQueue } from './queue.ts';
export type { BullReceiver, BullWorker, BullWorkerOptions } from './worker.ts';
export { createBullWorker } from './worker.ts';
