import { pause, performance } from '../../receiver/timing/process-clock.ts';
import { Timer } from '../../receiver/timing/timer.ts';
import { isInstance } from '../../receiver/values/foreign-values.ts';

/** The client was not connected, so nothing was sent. */
export class NotConnectedError extends Error {}

/** The connection of a client to its server, as the client sees it. */
export interface ClientConnection {
  /** True while commands can be sent. */
  readonly isReady: boolean;
  /** True if the connection becomes ready by itself. If not, the application has to connect it. */
  readonly isConnecting: boolean;
  /** The message of the errors while the client is not ready. */
  readonly absenceMessage: string;
  /** Adds a listener for the moments when the connection becomes ready and when it ends for good. */
  onChange(listener: () => void): void;
  /**
   * Returns true if the command may be sent again: the client refused it before it sent anything, or sending
   * it twice does no harm.
   */
  maySendAgain(error: unknown): boolean;
}

/** The pause before the next try if a client counts as ready, but has sent nothing. */
export const UNSENT_PAUSE_MS = 5;

/**
 * Operations that wait look again after this time, because a Cluster of node-redis and a Sentinel of its
 * version 5 emit no `ready`.
 */
const LOOK_AGAIN_MS = 100;

/**
 * Lets operations wait until their client is connected. The clients would queue commands by themselves, but
 * they may send them after their callers have given up.
 *
 * While the client is away, an operation waits only until the outage is as long as the operation's `waitMs`.
 * So in a long outage only the operations at its start wait; all later ones fail at once.
 */
export class Readiness {
  static readonly #known = new WeakMap<ClientConnection, Readiness>();

  readonly #connection: ClientConnection;
  readonly #waiting = new Set<() => void>();
  #isListening = false;
  /** When the first operation had to wait in the present outage, by the monotonic clock. */
  #awaySince: number | undefined;

  private constructor(connection: ClientConnection) {
    this.#connection = connection;
  }

  /** Returns the readiness of a client. It is shared, so that each client has one listener. */
  static of(connection: ClientConnection): Readiness {
    const known = Readiness.#known.get(connection) ?? new Readiness(connection);
    Readiness.#known.set(connection, known);
    return known;
  }

  get isReady(): boolean {
    return this.#connection.isReady;
  }

  /** Returns true if the operation may be sent again after this error. */
  maySendAgain(error: unknown): boolean {
    return isInstance(error, NotConnectedError) || this.#connection.maySendAgain(error);
  }

  /** Calls `send` once the client is ready. Within `waitMs`, repeats it if {@link maySendAgain} is true. */
  async send<Reply>(send: () => Promise<Reply>, waitMs: number): Promise<Reply> {
    const startedAt = performance.now();
    for (;;) {
      await this.wait(waitMs, startedAt);
      try {
        return await send();
      } catch (error) {
        if (!this.maySendAgain(error) || performance.now() >= startedAt + waitMs) throw error;
      }
      // The client notices a little later that its connection has ended.
      await pause(UNSENT_PAUSE_MS);
    }
  }

  /** Resolves once the client is ready; rejects with {@link NotConnectedError} if it may not wait longer. */
  async wait(waitMs: number, startedAt: number = performance.now()): Promise<void> {
    while (!this.isReady) {
      const endsAt = this.#waitsUntil(waitMs, startedAt);
      if (performance.now() >= endsAt) throw new NotConnectedError(this.#connection.absenceMessage);
      await this.#nextChange(endsAt);
    }
    this.#awaySince = undefined;
  }

  #waitsUntil(waitMs: number, startedAt: number): number {
    if (waitMs <= 0 || !this.#connection.isConnecting) return startedAt;
    this.#listen();
    this.#awaySince ??= performance.now();
    return Math.min(startedAt, this.#awaySince) + waitMs;
  }

  /** Resolves when the client is ready or has ended, when it is time to look again, or at `endsAt`. */
  #nextChange(endsAt: number): Promise<void> {
    return new Promise((resolve) => {
      const settle = (): void => {
        timer.clear();
        this.#waiting.delete(settle);
        resolve();
      };
      const timer = new Timer(Math.min(endsAt, performance.now() + LOOK_AGAIN_MS), settle);
      this.#waiting.add(settle);
    });
  }

  #listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    this.#connection.onChange(() => {
      this.#awaySince = undefined;
      for (const settle of this.#waiting) settle();
    });
  }
}
