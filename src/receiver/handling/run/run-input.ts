import type { ConfirmableLease } from '../../dedupe/lease.ts';
import type { UnavailableError } from '../../errors.ts';
import type { TypedEvent } from '../../events/event-types.ts';
import type { Rerun } from '../../outcomes/report.ts';
import type { EventIdentity } from '../../provider/event-identity.ts';
import type { QueuedJob } from '../../queue/queued-job.ts';
import type { HeaderValues } from '../../request/headers.ts';
import type { Deadline } from '../../timing/deadline.ts';
import type { Route } from '../handlers/route.ts';
import type { Origin } from './origin.ts';

/** The facts that a run adds to the job of its event. */
interface EnqueueInfo extends Pick<QueuedJob, 'handled' | 'isParked' | 'traceContext'> {
  /**
   * Counts the body before the event waits for a connection to the queue. Returns false if the memory is
   * full: the event must not wait then.
   */
  readonly countBody: () => boolean;
}

/** Enqueues an event; resolves with an error if the queue does not take it. */
export type Enqueue = (info: EnqueueInfo) => Promise<UnavailableError | undefined>;

/** An authentic event, and the handlers that it has. */
export interface RunInput {
  /** Apart from the event, which a handler may change. */
  readonly identity: EventIdentity;
  /** The id that the run claims in the store: `handlingId` or `enqueueingId` of the event's key. */
  readonly claimId: string;
  /** The event that handlers get. */
  readonly event: TypedEvent;
  readonly rawBody: Uint8Array;
  readonly headers: HeaderValues;
  readonly receivedAt: number;
  /** The deadline for the handlers to see, in milliseconds since the epoch. */
  readonly deadlineAt: number;
  readonly deadline: Deadline;
  readonly routes: readonly Route[];
  readonly origin: Origin;
  /** Given if workers run the rest of the handlers. */
  readonly enqueue?: Enqueue;
  /** Given in a rerun. */
  readonly rerun?: Rerun | undefined;
  /** Leases without which no handler may begin, besides that of the run. The caller renews them. */
  readonly heldLeases?: readonly ConfirmableLease[] | undefined;
}
