import type { DeadLetter, DeadLetters } from '../dead-letters/dead-letters.ts';
import type { Parking } from '../dead-letters/parking.ts';
import type { ClaimSettings } from '../dedupe/claim.ts';
import type { Completions } from '../dedupe/completions.ts';
import type { Store } from '../dedupe/store.ts';
import type { TimeLimitedStore } from '../dedupe/time-limited.ts';
import type { UnavailableError } from '../errors.ts';
import type { AnyEvent } from '../events/event.ts';
import type { StandardSchemaV1 } from '../events/schema.ts';
import type { Queue } from '../queue/queue.ts';
import type { QueuedJob } from '../queue/queued-job.ts';
import type { BodyMemory } from '../request/body-memory.ts';
import type { HeaderValues } from '../request/headers.ts';
import type { KeptMiddleware } from './middleware.ts';
import type { Room } from './room.ts';
import type { Route } from './router.ts';

/** What a worker says of a job that it runs. */
export interface WorkerAttempt {
  readonly attempt: number;
  readonly final: boolean;
  /** False if the queue finds out by itself which job kills its workers. */
  readonly parksAbandoned?: boolean | undefined;
  /** The event has a letter. */
  readonly isParked: boolean;
  /** Names of the handlers that finished before the event was queued. */
  readonly handled: readonly string[];
  /** What middleware has sent along with the job. */
  readonly traceContext: { readonly [name: string]: string };
}

/** What a run knows of an event that goes into the queue. */
export interface EnqueueInfo extends Pick<QueuedJob, 'handled' | 'isParked' | 'traceContext'> {
  /** Asked if the event has to wait for a connection to the queue: whether it may. */
  readonly mayWait: () => boolean;
}

/** Adds an event to the queue; resolves with an error where the queue does not take it. */
export type Enqueue = (info: EnqueueInfo) => Promise<UnavailableError | undefined>;

/** An authentic event and the handlers that want it. */
export interface Job {
  /** The event's, copied: a handler may change the event. */
  readonly id: string;
  /** What the store knows the run by: `handlingId` or `acceptanceId` of the id. */
  readonly claimId: string;
  readonly event: AnyEvent;
  /** When it was created, in milliseconds since the epoch. */
  readonly createdAt: number;
  readonly rawBody: Uint8Array;
  readonly headers: HeaderValues;
  readonly receivedAt: number;
  readonly deadlineAt: number;
  /**
   * When letters must be stored at the latest, by the monotonic clock. For a replay or a job: `deadlineMs`
   * after its start.
   */
  readonly deadline: number;
  /** The time from the delivery's arrival to `deadline`. */
  readonly deadlineMs: number;
  readonly routes: readonly Route[];
  /** The letter that is being replayed. */
  readonly replayed?: DeadLetter | undefined;
  /** Given where workers run the rest of the handlers. */
  readonly enqueue?: Enqueue;
  /** Given in a worker. */
  readonly dispatched?: WorkerAttempt;
}

/** The settings that handling an event needs. */
export interface HandlingSettings extends ClaimSettings {
  readonly store: Store;
  readonly deadLetters: DeadLetters | undefined;
  readonly schemas: ReadonlyMap<string, StandardSchemaV1>;
  readonly deadlineMs: number;
  readonly maxRunMs: number;
  readonly maxRunning: number;
  readonly queue: Queue | undefined;
}

/** The services that all runs of a receiver share. */
export interface RunServices {
  readonly settings: HandlingSettings;
  readonly store: TimeLimitedStore;
  readonly parking: Parking | undefined;
  readonly completions: Completions;
  readonly bodyMemory: BodyMemory;
  /** The room for the handlers of deliveries; undefined where there is no limit. */
  readonly room: Room | undefined;
  /** What runs around each handler, the outermost first. */
  readonly middlewares: readonly KeptMiddleware[];
}
