import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WebhookEvent } from '../../providers/banking-service/event.ts';
import type { FxQuoteBody } from '../shapes/fx-quotes.ts';
import type { DeliveryAttempt } from './attempt.ts';
import type { SendRequest } from './event-request.ts';

/**
 * The sandbox as a request listener, for `http.createServer` or for `app.use` of an Express application. It
 * answers as localhost or, over a network, as an IP address; it refuses other names in `Host`.
 */
export type SandboxApp = (request: IncomingMessage, response: ServerResponse) => void;

/** The time of the sandbox. */
export interface SandboxClock {
  /** Returns the milliseconds since the epoch. Hand it to a receiver as `now`. */
  readonly now: () => number;
  /**
   * Moves time forward. When this resolves, every delivery that fell due on the way has been made and
   * answered, including new retries. An endpoint must not await it before it answers: each would wait for the
   * other.
   *
   * @throws RefusedError for anything but a whole number that is not negative, and for a step beyond the year
   * 9999.
   */
  readonly advance: (ms: number) => Promise<void>;
}

/** Selects attempts; without members all of them. */
export interface DeliveryFilter {
  /** The id of an event. */
  readonly event?: string | undefined;
  /** The id of a webhook. */
  readonly webhook?: string | undefined;
}

/** The controls below `/sandbox/`, as methods. */
export interface Controls {
  readonly clock: SandboxClock;
  /**
   * Makes an event happen. When this returns, the event is on its way to the webhooks that want it.
   *
   * @throws RefusedError for a wrong member, or for more copies of a large event than fit into memory.
   */
  send(request: SendRequest): WebhookEvent;
  /**
   * The attempts that have ended, the oldest first; the last 1,000 are kept, or fewer if their bodies are
   * large.
   */
  deliveries(filter?: DeliveryFilter): readonly DeliveryAttempt[];
  /**
   * Accepts an FX quote, as a transaction would.
   *
   * @throws RefusedError for an unknown, expired or accepted one.
   */
  acceptQuote(id: number): FxQuoteBody;
}

/** The service, played on this machine. */
export interface Sandbox extends Controls {
  /** Serves the sandbox from a server of your own. */
  readonly app: SandboxApp;
  /**
   * Registers a function that is called with each attempt that has ended, as `deliveries` gives them. If it
   * throws, the process emits a warning, and the deliveries go on.
   */
  observe(observer: (attempt: DeliveryAttempt) => void): void;
  /**
   * Serves the sandbox, with its page at the root; on a free port of 127.0.0.1 by default. It answers as
   * localhost and as this host or, over a network, as an IP address; it refuses other names in `Host`.
   *
   * @throws ConfigurationError if it cannot listen, or is listening already.
   */
  listen(port?: number, host?: string): Promise<{ readonly url: string; readonly port: number }>;
  /** Resolves once no delivery is under way; does not wait for retries that are not due yet. */
  settled(): Promise<void>;
  /** Stops serving and delivering. Pending deliveries stay in the state file, if there is one. */
  close(): Promise<void>;
}
