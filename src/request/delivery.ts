import type { HeaderFields } from './headers.ts';

/** One HTTP request that carries an event, as an adapter hands it to the receiver. */
export interface Delivery {
  readonly method: string;
  /** All values of each name, in any usual form: a header that was sent twice must show twice. */
  readonly headers: HeaderFields;
  /**
   * Reads the body, unchanged; at once, where it has arrived. Throws or rejects with a `RequestError` (`body_too_large`,
   * `body_incomplete`), or with a `ConfigurationError` (`body_already_parsed`) when something else has read it.
   */
  readonly readBody: (options: BodyOptions) => Uint8Array | Promise<Uint8Array>;
  /** Where a platform freezes the process after the answer: keeps it alive until the promise settles. */
  readonly waitUntil?: ((promise: Promise<unknown>) => void) | undefined;
  /** False once the sender has hung up. Without it `answerSent` of a report is taken to be true. */
  readonly isConnected?: (() => boolean) | undefined;
}

/** How an adapter has to read a body. */
export interface BodyOptions {
  readonly maxBytes: number;
  /** Aborts when the receiver has given up on the body: stop reading, and let go what was read. */
  readonly signal: AbortSignal;
  /**
   * Call it with the number of bytes that are held so far whenever more of the body has arrived: they count against
   * `maxBufferedBytes`. Without it a body counts only once it is whole.
   */
  readonly onProgress?: ((heldBytes: number) => void) | undefined;
}

/** The answer to a delivery, for an adapter to send. */
export interface Reply {
  readonly status: number;
  /** Lower-case names. `content-length` and `connection` are the adapter's. */
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
  /** Close the connection after the answer (`Connection: close`; never on HTTP/2). */
  readonly close: boolean;
  /** How long what is left of the request body may take to arrive, in milliseconds, when the connection stays. */
  readonly drainMs: number;
}
