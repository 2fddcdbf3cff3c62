export type { BullConnectionOptions } from './connection.ts';
export { createBullQueue } from './queue.ts';
export type { BullReceiver, BullWorker, BullWorkerOptions } from './worker.ts';
export { createBullWorker } from './worker.ts';
