import { handlingId } from '../dedupe/claim-id.ts';
import type { UnavailableError } from '../errors.ts';
import type { AnyEvent } from '../events/event.ts';
import type { QueuedJob } from '../queue/queued-job.ts';
import type { HeaderValues } from '../request/headers.ts';
import type { Deadline } from '../timing/deadline.ts';
import type { Origin } from './origin.ts';
import type { Route } from './router.ts';

/** What a run knows of an event that goes into the queue. */
export interface EnqueueInfo extends Pick<QueuedJob, 'handled' | 'isParked' | 'traceContext'> {
  /** Asked if the event has to wait for a connection to the queue: whether it may. */
  readonly mayWait: () => boolean;
}

/** Adds an event to the queue; resolves with an error if the queue does not take it. */
export type Enqueue = (info: EnqueueInfo) => Promise<UnavailableError | undefined>;

/** An authentic event and the handlers that want it. */
export interface RunInput {
  /** The event's, copied: a handler may change the event. */
  readonly id: string;
  /** The run's id in the store: `handlingId` or `enqueueingId` of the event's. */
  readonly claimId: string;
  readonly event: AnyEvent;
  /** When it was created, in milliseconds since the epoch. */
  readonly createdAt: number;
  readonly rawBody: Uint8Array;
  readonly headers: HeaderValues;
  readonly receivedAt: number;
  /** For the handlers, in milliseconds since the epoch. */
  readonly deadlineAt: number;
  readonly deadline: Deadline;
  readonly routes: readonly Route[];
  readonly origin: Origin;
  /** Given if workers run the rest of the handlers. */
  readonly enqueue?: Enqueue;
}

/** The input of a run that handles an event; without a spread, which costs more than all the rest of it. */
export function runInput({
  event,
  createdAt,
  rawBody,
  headers,
  receivedAt,
  deadlineAt,
  deadline,
  routes,
  origin,
}: Omit<RunInput, 'id' | 'claimId' | 'enqueue'>): RunInput {
  const { id } = event;
  const claimId = handlingId(id);
  return {
    id,
    claimId,
    event,
    createdAt,
    rawBody,
    headers,
    receivedAt,
    deadlineAt,
    deadline,
    routes,
    origin,
  };
}
