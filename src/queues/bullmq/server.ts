import type { Job, Processor, WorkerOptions } from 'bullmq';
import type { Closable } from './connection.ts';

/** The queue of BullMQ, for jobs that have failed. */
export interface FailedJobs {
  getRanges(types: ['failed'], start: number, end: number, isAscending: boolean): Promise<string[]>;
  getJob(id: string): Promise<Job | undefined>;
  remove(id: string): Promise<unknown>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  close(): Promise<void>;
  disconnect(): Promise<void>;
}

/** The worker of BullMQ. */
export interface EngineWorker {
  /** Takes no further jobs; with true, without waiting for the running ones. */
  pause(doNotWait: boolean): Promise<void>;
  resume(): unknown;
  on(event: 'active', listener: (job: Job) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'failed', listener: (job: Job | undefined) => void): unknown;
  close(): Promise<void>;
  disconnect(): Promise<void>;
}

/** The parts of a queue's server that a worker needs. */
export interface QueueServer {
  readonly openFailedJobs: () => FailedJobs;
  readonly openWorker: (run: Processor, options: Omit<WorkerOptions, 'connection'>) => EngineWorker;
  /** Cuts off a queue or a worker that does not close in time. */
  readonly cutOff: (bull: Closable) => void;
  /** Ends all waits for the server when the worker closes, because the server may be down. */
  readonly endWaits: () => void;
}
