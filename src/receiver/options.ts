import type { AccountOption } from './authentication/account.ts';
import type { Authentication } from './authentication/credentials.ts';
import type { SigningKeys } from './authentication/signing-keys.ts';
import type { DeadLetters } from './dead-letters/dead-letters.ts';
import type { Store } from './dedupe/store.ts';
import type { EntityOf, TypedEvent } from './events/event-types.ts';
import type { SchemasByEntity } from './events/schema.ts';
import type { Journal } from './journal/journal.ts';
import type { Provider } from './provider/provider.ts';
import type { Queue } from './queue/queue.ts';

/** The options of a receiver, with the schemas `S`, of a provider with the events `E`. */
export interface OptionsOf<S extends SchemasByEntity, E extends TypedEvent> {
  /**
   * The sender of the events; `bankingService()` of `posthorn/providers` by default. Other options follow it:
   * their defaults are in its documentation.
   */
  readonly provider?: Provider<E> | undefined;
  /**
   * The webhook's `secret_signing_key`, a list of keys (any matching key is accepted, so keys rotate without
   * downtime), or a function that returns them. The function is called for each delivery, once at a time for
   * each account, with a limit of 5 seconds: let it cache its result. It gets the account, if there is the
   * option `account`. Each key of a list is valid on every path of the receiver.
   *
   * The type includes `undefined`, so that `process.env.SIGNING_KEY` compiles, but the value throws. If a
   * build loads the module without a key, pass a function: `() => process.env.SIGNING_KEY`.
   */
  readonly signingKey: SigningKeys | undefined;
  /**
   * Names the account that a request is of, if one endpoint serves several, each with its own keys. It gets
   * the headers and the url, which are not authentic yet, and is called for any stranger's request, so it
   * must be quick. A request without an account is answered 404 (`account_unknown`), and so is one of an
   * account for which `signingKey` finds no key. The account has 1 to 256 characters. It is a part of the
   * event key, so two accounts never share an event, even with the same id. If `signingKey` is not a
   * function, each account has the same keys, and the account is what the request says.
   */
  readonly account?: AccountOption | undefined;
  /**
   * The name of this receiver, for a process with several. If it is set, reports, log lines, spans and
   * metrics have it as `receiver`.
   */
  readonly name?: string | undefined;
  /**
   * The name of the signature's header, for a provider that takes another one, as the default provider does.
   * In production set the name that the service uses.
   */
  readonly signatureHeader?: string | undefined;
  /** The credentials that the service sends, or a list of accepted credentials; `NONE` by default. */
  readonly authentication?: Authentication | readonly Authentication[] | undefined;
  /**
   * The store in which event ids are claimed; a memory store by default, which serves one process. With
   * several processes each would handle an event once. If posthorn can detect that, or with a `queue`, the
   * first report warns `memory_store_shared`.
   */
  readonly store?: Store | undefined;
  /**
   * The place where events are parked. Without it, one event that always fails can get the endpoint cut off.
   */
  readonly deadLetters?: DeadLetters | undefined;
  /**
   * The record of what came, for people: an entry for each authentic event, with its outcome and its body. It
   * is written after the answers, within a second, and a receiver goes on without it.
   */
  readonly journal?: Journal | undefined;
  /** Validators of `event.data` by entity. Handlers receive their typed output. */
  readonly schemas?: (S & OfEntities<S, E>) | undefined;
  /**
   * The queue of the handlers that are registered with `queue: true`. Workers run them, and need this option
   * as well: create their receiver in the same way.
   */
  readonly queue?: Queue | undefined;
  /**
   * The most handlers that run at once in this process for deliveries; no limit by default. Further
   * deliveries wait for a permit, and are answered 503 `too_many_running` after 18.8 seconds by default. The
   * rest of `deadlineMs` is kept: a sixth for the handlers, and 2 seconds (a fourth, if that is less) for a
   * dead letter. A worker has its `concurrency` instead.
   */
  readonly maxRunning?: number | undefined;
  /**
   * The time from the adapter's call to the answer; 25,000 by default, or five sixths of the time that the
   * provider waits. It must be less than that time.
   */
  readonly deadlineMs?: number | undefined;
  /**
   * The time after which handlers are aborted and the id is released; 240,000 by default, and for
   * deliveries at most 0.8 times the second delay of the retries. If set, it must be less than that delay.
   */
  readonly maxRunMs?: number | undefined;
  /**
   * The time for which a claim is valid without renewal; 20,000 by default. It is renewed every third of that
   * time.
   */
  readonly leaseMs?: number | undefined;
  /**
   * The time for which the store keeps a completed id. By default a day, or an hour more than the retries of
   * the provider take, if that is longer. It must be at least the time that they take.
   */
  readonly retentionMs?: number | undefined;
  /**
   * Older events are refused, because they may be recordings; `retentionMs` by default, and no limit if the
   * provider signs the time of each attempt. `Infinity` turns the check off.
   */
  readonly maxEventAgeMs?: number | undefined;
  /** The largest body that is accepted; 1,048,576 by default, unless the provider says otherwise. */
  readonly maxBodyBytes?: number | undefined;
  /**
   * The memory for bodies that are not verified yet, and for bodies of events that wait for another process,
   * a permit or a connection; 67,108,864 by default, at least `maxBodyBytes`. When it is full, the unfinished
   * body with the least recent progress is answered 503.
   */
  readonly maxBufferedBytes?: number | undefined;
  /**
   * The time in which a body must arrive; 10,000 by default. It does not apply if a middleware before the
   * receiver reads the body, such as `express.raw()`.
   */
  readonly bodyTimeoutMs?: number | undefined;
  /** The delays after which the sender retries; those of the provider by default. */
  readonly retryScheduleMs?: readonly number[] | undefined;
  /**
   * The reaction if the store does not answer: `reject` (503, the default), or `process` (run the handlers
   * without a claim).
   */
  readonly onStoreFailure?: 'reject' | 'process' | undefined;
  /**
   * The clock, in milliseconds since the epoch; `Date.now` by default. Set it only in tests and simulations.
   * If it throws, or does not return a number, `Date.now` is used, and a report warns once
   * (`return_value_invalid`).
   */
  readonly now?: (() => number) | undefined;
}

/** Refuses a schema of an entity that the provider does not have. */
type OfEntities<S extends SchemasByEntity, E extends TypedEvent> = string extends E['type']
  ? unknown
  : { readonly [Name in Exclude<keyof S, EntityOf<E['type']>>]: never };

/** The options of any receiver. */
export type AnyOptions = OptionsOf<SchemasByEntity, TypedEvent>;
