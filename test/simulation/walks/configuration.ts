import type { Kind } from './action.ts';

/** The faults of a walk. */
export type Fault =
  | 'crash'
  | 'standstill'
  | 'lost reply'
  | 'late reply'
  | 'failed operation'
  | 'late claim'
  | 'letter'
  | 'queue'
  | 'forgetting'
  | 'clock';

/** The settings of all receivers and of the service, in milliseconds. */
export interface Times {
  readonly leaseMs: number;
  readonly commandTimeoutMs: number;
  readonly deadlineMs: number;
  readonly maxRunMs: number;
  readonly retryScheduleMs: readonly number[];
  /** How long the service waits for an answer. */
  readonly serviceTimeoutMs: number;
}

/**
 * The server of a `timed` store does nothing with a claim that comes late, such as Redis. A `refusing` store
 * has no clock for that, such as DynamoDB: it refuses late claims only of tokens that were given back. A
 * `plain` one, of a user, does not do that either, has no `peek`, and takes all claims for runs.
 */
export type StoreKind = 'timed' | 'refusing' | 'plain';

/** A handler that all receivers have. */
export interface HandlerOptions {
  readonly name: string | undefined;
  readonly isQueued: boolean;
  /** The field of an event that is its concurrency key; undefined without one. */
  readonly keyedBy?: KeyField | undefined;
}

/** The fields of an event's data that are concurrency keys. */
export type KeyField = 'account' | 'owner';

/** The concurrency keys of an event. */
export type EventKeys = Readonly<Record<KeyField, string>>;

/** The world of a walk. */
export interface Configuration {
  readonly processes: number;
  readonly events: number;
  readonly times: Times;
  readonly handlers: readonly HandlerOptions[];
  /** The concurrency keys of the events, in the order in which they happen. */
  readonly keys: readonly EventKeys[];
  /** How likely it is that an event fails each time. */
  readonly poison: number;
  readonly onStoreFailure: 'reject' | 'process';
  readonly store: StoreKind;
  readonly hasDeadLetters: boolean;
  readonly hasSchema: boolean;
  readonly maxRunning: number | undefined;
  readonly hasSmallMemory: boolean;
  /** The attempts of a job. */
  readonly jobAttempts: number;
  readonly faults: readonly Fault[];
  readonly mostFaults: number;
  readonly mayDuplicate: boolean;
  readonly mayReplay: boolean;
  readonly mayDrop: boolean;
  readonly mayAccept: boolean;
  readonly mayRerun: boolean;
  readonly mayClose: boolean;
  readonly mostSteps: number;
  /**
   * How much more or less often the actions of a kind are chosen: so each walk sees another side of the
   * world.
   */
  readonly pace: Readonly<Partial<Record<Kind, number>>>;
}
