import type { PostgresClient, PostgresPool } from '../../../stores/postgres/client.ts';

/** The parts of a `Pool` of `pg` 8 that a queue uses. */
export interface QueuePool extends PostgresPool {
  /** posthorn reads `max`: a worker keeps one client for notifications. */
  readonly options: { readonly max?: number };
  /** Calls back with a client that is taken out of the pool until it is released, or with an error. */
  connect(callback: (error: Error | undefined, client: QueueClient | undefined) => void): void;
  /** posthorn listens, because an idle client that is lost would end the process. */
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** The parts of a client of `pg` 8 that a queue uses. */
export interface QueueClient extends PostgresClient {
  /** posthorn listens while it has the client. */
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** A worker hears of new jobs. */
  on(event: 'notification', listener: (message: QueueNotification) => void): unknown;
  /** Ends the listening, when the client is given back. */
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  /** Ends the hearing of new jobs. */
  removeListener(event: 'notification', listener: (message: QueueNotification) => void): unknown;
}

/** A notification of PostgreSQL. */
export interface QueueNotification {
  /** The channel, of `LISTEN`. */
  readonly channel: string;
  /** The text that was sent along. */
  readonly payload?: string;
}
