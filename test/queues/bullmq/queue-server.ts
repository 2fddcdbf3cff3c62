import type { Processor, Queue, Worker, WorkerOptions } from 'bullmq';
import type { DeadLetters, Store } from 'posthorn';
import type { BullConnectionOptions } from 'posthorn/bullmq';

/** The parts of a queue of BullMQ that tests use. */
export type BullQueue = OfEitherServer<
  Pick<
    Queue,
    | 'add'
    | 'disconnect'
    | 'getActive'
    | 'getActiveCount'
    | 'getDelayed'
    | 'getDelayedCount'
    | 'getFailed'
    | 'getFailedCount'
    | 'getJob'
    | 'getJobCountByTypes'
    | 'getJobCounts'
    | 'getWaiting'
    | 'getWaitingCount'
    | 'name'
    | 'pause'
    | 'promoteJobs'
    | 'resume'
  >
>;

/** The parts of a worker of BullMQ that tests use. */
export interface BullWorker extends OfEitherServer<Pick<Worker, 'close' | 'disconnect'>> {
  readonly getBackend: () => { readonly moveStalledJobsToWait: () => Promise<unknown> };
}

type OfEitherServer<Part> = Part & {
  readonly on: (event: 'error', listener: (error: Error) => void) => unknown;
  readonly waitUntilReady: () => Promise<unknown>;
};

/** The counts of a job. */
export interface JobCounts {
  /** The attempts that have failed. */
  readonly attempts?: number;
  /** The times that a worker has died with it. */
  readonly stalls?: number;
}

/** The server of the queues of some tests, and the ways around posthorn into it. */
export interface QueueServer {
  /** The options of a queue and of a worker, without the scope. */
  readonly options: Omit<BullConnectionOptions, 'scope'>;
  readonly openStore: (scope: string) => Promise<Store>;
  readonly openDeadLetters: (scope: string) => Promise<DeadLetters>;
  /** The queue as BullMQ itself sees it. */
  readonly openBull: (scope: string) => BullQueue;
  /** Lets the delayed jobs of a queue come at once. */
  readonly promote: (bull: Pick<BullQueue, 'name' | 'promoteJobs'>) => Promise<void>;
  /** A worker of BullMQ alone, which knows nothing of posthorn. */
  readonly openBullWorker: (
    scope: string,
    run: Processor | undefined,
    options: Omit<WorkerOptions, 'connection'>,
  ) => BullWorker;
  /** Takes the lock of an active job away, as if its worker had been frozen for as long as it holds. */
  readonly loseLock: (scope: string, jobId: string) => Promise<void>;
  /** Sets the clock of the server, by so much ahead of the real one; absent if jobs do not go by it. */
  readonly setAhead?: (ms: number) => Promise<void>;
  /** Lets the next look for stalled jobs be a real one, which Redis allows once in 30 seconds. */
  readonly allowStalledCheck?: (scope: string) => Promise<void>;
  /** Marks an active job as the last look for stalled jobs would have. */
  readonly markForStalledCheck: (scope: string, jobId: string) => Promise<void>;
  readonly setCounts: (scope: string, jobId: string, counts: JobCounts) => Promise<void>;
}
