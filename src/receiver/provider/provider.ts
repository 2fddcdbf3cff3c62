import type { Key } from '../authentication/key.ts';
import type { Signature } from '../authentication/signature-check.ts';
import type { TypedEvent } from '../events/event-types.ts';
import type { SingleHeaders } from '../request/single-headers.ts';

/**
 * All that the receiver knows of a sender of webhooks. `defineProvider` checks one; `posthorn/providers` has
 * those of some senders. Durations are in milliseconds.
 */
export interface Provider<E extends TypedEvent = TypedEvent> {
  /**
   * 1 to 64 letters, digits, `.`, `_` or `-`. It is a part of each event's key in stores, dead letters and
   * queues, so it must not change. Two senders need two names, because both may give the same ids.
   */
  readonly name: string;
  /** How the sender signs: the result of `hmacSignature`, or a function that verifies. */
  readonly signature: Signature;
  /**
   * Every type of the sender, each as `<entity>.<type>`. With them, `on` refuses a pattern that matches none,
   * and `schemas` and `eventFilters()` are there. Without them, a pattern is any text of the right form.
   */
  readonly types?: readonly string[] | undefined;
  /**
   * Reads an authentic request that is not an event and must be answered, for example the test of a new
   * address. Returns a text or an object, which is sent as JSON; undefined for an event.
   */
  readonly handshake?: ((request: ProviderRequest) => string | object | undefined) | undefined;
  /**
   * Reads the event in an authentic body. If it throws, the body is refused as one that is not an event
   * (`envelope_invalid`), or parked.
   */
  readonly readEvent: (request: ProviderRequest) => ReadEvent<E>;
  /** How long the sender waits for an answer. `deadlineMs` is five sixths of it by default. */
  readonly answerWithinMs: number;
  /** When the sender sends an event again that was not answered 2xx. */
  readonly retries: Retries;
  /** True if the sender stops sending to an endpoint for good after failures; false by default. */
  readonly cutsOff?: boolean | undefined;
  /**
   * The longest body that the sender sends, which is the default of the receiver's `maxBodyBytes`; without it
   * that is 1,048,576.
   */
  readonly maxBodyBytes?: number | undefined;
  /** Plays the sender in tests: for `createEvent`, `signedHeaders` and `deliver` of `posthorn/testing`. */
  readonly testing?: ProviderTesting | undefined;
}

/** A request whose signature is right. */
export interface ProviderRequest {
  /** The body as it was signed. */
  readonly rawBody: Uint8Array;
  /** The headers of the request. A dead letter and a job lack those that hold credentials. */
  readonly headers: SingleHeaders;
}

/** An event as `readEvent` of a provider returns it. */
export interface ReadEvent<E extends TypedEvent = TypedEvent> {
  /** The sender's id: the same each time that it sends the event, and of no other event. */
  readonly id: string;
  /** The type that patterns match. */
  readonly type: string;
  /**
   * When the event was created, in milliseconds since the epoch. Without it the event has the age 0: it is
   * never too old, and its last attempt is found by its first claim and by the number of claims.
   */
  readonly createdAtMs?: number | undefined;
  /** The same time as the sender wrote it, for messages. */
  readonly createdAt?: string | undefined;
  /**
   * The id of the resource that the event is about, such as an invoice: `context.event` and the journal have
   * it. A value that is not a text is left out.
   */
  readonly resource?: string | undefined;
  /** The event that handlers get. */
  readonly event: E;
}

/**
 * The retries of a sender: the delay before each; or, if only their span is published, the time from the
 * first attempt to the last, and the least number of retries in it; or `none`.
 */
export type Retries = readonly number[] | { readonly forMs: number; readonly least: number } | 'none';

/** The event in a body, in tests. */
export interface PlayedEvent {
  /** The sender's id: the same for an event that is sent again. */
  readonly id: string;
  /** The type that patterns match. */
  readonly type: string;
}

/** The sender's part in tests. */
export interface ProviderTesting {
  /** Creates an event, as an object that becomes the body. */
  readonly createEvent: (parts: {
    readonly id: string;
    readonly type: string;
    readonly createdAtMs: number;
    /** Given by the test; undefined for a sample. */
    readonly data: unknown;
  }) => object;
  /** Signs a body as the sender does. Returns the headers that the sender adds. */
  readonly sign: (parts: {
    readonly rawBody: Uint8Array;
    readonly key: Key;
    /** When it is signed, in milliseconds since the epoch. */
    readonly signedAtMs: number;
    /** The event in the body, for a sender that names it in headers; undefined if the test does not say. */
    readonly event?: PlayedEvent | undefined;
  }) => { readonly [name: string]: string };
}
