import { isInstance, messageOf } from '../foreign-values.ts';
import { Timer } from '../timing/time-limit.ts';

/** The parts of a client that say whether it is connected. */
export interface Connection {
  /** Commands are sent only while it is `ready`. */
  readonly status: string;
  on?(event: 'ready' | 'end', listener: () => void): unknown;
}

/**
 * The states of ioredis that lead to `ready`; `wait` and `end` last until the application calls `connect()`.
 */
const PASSING = new Set(['connecting', 'connect', 'close', 'reconnecting', 'disconnecting']);

/** The pause before a client that counts as ready, but has sent nothing, is asked again. */
export const UNSENT_PAUSE_MS = 5;

/** The client was not connected, so nothing was sent. */
export class NotConnectedError extends Error {
  constructor(status: string) {
    super(`the Redis client is not connected (its status is "${status}")`);
  }
}

/**
 * Whether a client has refused a command before it sent anything. ioredis is `ready` for a moment longer than
 * its connection lasts; with `enableOfflineQueue: false` it then refuses with this message.
 */
export function isUnsent(error: unknown): boolean {
  return isInstance(error, NotConnectedError) || messageOf(error).startsWith("Stream isn't writeable");
}

/**
 * Lets operations wait until their client is connected. ioredis would queue their commands by itself, but it
 * may send them after their callers have given up.
 *
 * While the client is away, an operation waits until the outage has lasted for as long as it may wait. So in
 * a long outage only the operations at its start wait; all later ones fail at once.
 */
export class Readiness {
  static readonly #known = new WeakMap<Connection, Readiness>();

  readonly #connection: Connection;
  readonly #waiting = new Set<() => void>();
  #isListening = false;
  /** When an operation first had to wait since the client was last ready; by the monotonic clock. */
  #awaySince: number | undefined;

  private constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Returns the object of a client: each client has one listener, however many stores and operations it
   * serves.
   */
  static of(connection: Connection): Readiness {
    const known = Readiness.#known.get(connection) ?? new Readiness(connection);
    Readiness.#known.set(connection, known);
    return known;
  }

  get isReady(): boolean {
    return this.#connection.status === 'ready';
  }

  /** Calls `send` once the client is ready, and again if `send` has sent nothing. */
  async send<Reply>(send: () => Promise<Reply>, waitMs: number): Promise<Reply> {
    const startedAt = performance.now();
    for (;;) {
      await this.wait(waitMs, startedAt);
      try {
        return await send();
      } catch (error) {
        if (!isUnsent(error) || performance.now() >= startedAt + waitMs) throw error;
      }
      // The client notices a little later that its connection has ended.
      await new Promise((resolve) => setTimeout(resolve, UNSENT_PAUSE_MS));
    }
  }

  /** Resolves once the client is ready; rejects with {@link NotConnectedError} after `waitMs`, or at once. */
  async wait(waitMs: number, startedAt: number = performance.now()): Promise<void> {
    while (!this.isReady) {
      const endsAt = this.#waitsUntil(waitMs, startedAt);
      if (performance.now() >= endsAt) throw new NotConnectedError(this.#connection.status);
      await this.#nextChange(endsAt);
    }
  }

  #waitsUntil(waitMs: number, startedAt: number): number {
    if (waitMs <= 0 || !PASSING.has(this.#connection.status) || !this.#listen()) return startedAt;
    this.#awaySince ??= performance.now();
    return Math.min(startedAt, this.#awaySince) + waitMs;
  }

  /** Resolves when the client is ready or has ended, and at `endsAt`. */
  #nextChange(endsAt: number): Promise<void> {
    return new Promise((resolve) => {
      const settle = (): void => {
        timer.clear();
        this.#waiting.delete(settle);
        resolve();
      };
      const timer = new Timer(endsAt, settle);
      this.#waiting.add(settle);
    });
  }

  /**
   * Returns false if the client takes no listeners: an object that wraps a client need not pass on its
   * events.
   */
  #listen(): boolean {
    if (this.#isListening || typeof this.#connection.on !== 'function') return this.#isListening;
    this.#isListening = true;
    const wakeAll = (): void => {
      this.#awaySince = undefined;
      for (const settle of this.#waiting) settle();
    };
    this.#connection.on('ready', wakeAll);
    this.#connection.on('end', wakeAll);
    return true;
  }
}
