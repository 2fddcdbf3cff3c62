/** Each {@link JournalOutcome}, the most final one first. */
export const journalOutcomes = ['processed', 'parked', 'queued', 'failed', 'ignored', 'rejected'] as const;

/**
 * The outcome of an event. `failed` and `queued` are not the end: a retry or a worker follows. `rejected`:
 * the receiver refused it, for example as too old.
 */
export type JournalOutcome = (typeof journalOutcomes)[number];

/**
 * An event in a journal. Times are in milliseconds since the epoch, by the clocks of the receivers.
 */
export interface JournalEntry {
  /** The sender's id. If no id could be read, the SHA-256 of the body (hex) stands for it. */
  readonly id: string;
  /** The event's key, as `context.event` has it. Absent if it is the id as it stands. */
  readonly key?: string | undefined;
  /** Absent if it could not be read. */
  readonly type?: string | undefined;
  /** The name of the provider. */
  readonly provider: string;
  /** The account of the sender, for a receiver of several. */
  readonly account?: string | undefined;
  /** When the event was created, if its sender says so. */
  readonly createdAt?: number | undefined;
  /** When the event came first, by a delivery or by `receiver.accept`. */
  readonly firstReceivedAt: number;
  /** When the event came last. A replay, a job or a rerun does not change it. */
  readonly lastReceivedAt: number;
  /**
   * The number of deliveries that arrived, with duplicates; 0 if only `accept`, a replay or a job made the
   * entry.
   */
  readonly deliveries: number;
  /** The number of the last attempt to run its handlers. */
  readonly attempts: number;
  /**
   * The end that the event came to. A duplicate does not change it, and a processed event stays processed.
   */
  readonly outcome: JournalOutcome;
  /** The code of the error, unless the event was processed, queued or ignored. */
  readonly code?: string | undefined;
  /** The names of the handlers that have finished. */
  readonly handled: readonly string[];
  /** The id of the resource that the event is about, if the provider says it. */
  readonly resource?: string | undefined;
  /** The body as it came. Absent in a journal or a list with `bodies: false`, and if the memory was full. */
  readonly rawBody?: Uint8Array | undefined;
  /** The headers, which come with the body, and lack `authorization`, `proxy-authorization` and `cookie`. */
  readonly headers?: { readonly [name: string]: readonly string[] } | undefined;
}

/**
 * The part that a receiver adds to the entry of an event. The entry keeps the earlier `firstReceivedAt`, the
 * later `lastReceivedAt`, the greater `attempts`, the most final `outcome` with its `code`, and all of
 * `handled`; `deliveries` are added up. Of the other members it keeps what it has.
 */
export interface JournalRecord extends JournalEntry {
  /** The rank of `outcome`: a less final one never replaces it. */
  readonly finality: number;
  /** When `outcome` was known: of two that are equally final, the later one counts. */
  readonly decidedAt: number;
}

/** Records that a journal writes in one step. */
export interface JournalBatch {
  /** A UUID. A batch that is written again, because its answer was lost, must not change an entry again. */
  readonly batchId: string;
  /** Of 1 to 100 events, each once. */
  readonly records: readonly JournalRecord[];
}

/** Selects entries of a journal. Several members select what fits all of them. */
export interface JournalSelection {
  /** A type, or a pattern such as `invoice.*`. */
  readonly type?: string | undefined;
  /** The outcome of the events. */
  readonly outcome?: JournalOutcome | undefined;
  /** The earliest `firstReceivedAt`. */
  readonly since?: number | undefined;
  /** The `firstReceivedAt` before which the selection ends. */
  readonly until?: number | undefined;
  /** The id of the resource that the events are about. */
  readonly resource?: string | undefined;
  /** The id or the key of the entry after which the list goes on. */
  readonly after?: string | undefined;
  /** The number of entries; no limit by default. */
  readonly limit?: number | undefined;
  /** False for entries without their bodies and headers; true by default. */
  readonly bodies?: boolean | undefined;
}

/**
 * A record of the events that receivers got, for people. No delivery asks it or waits for it; only
 * `receiver.accept` asks it, about an event that the store may have forgotten. Its methods reject with
 * JournalError.
 */
export interface Journal {
  /** False if it keeps no bodies: receivers then leave them out. */
  readonly bodies?: boolean | undefined;
  /** Adds records to the entries of their events; called by receivers, after the answers. */
  record(batch: JournalBatch): Promise<void>;
  /**
   * Resolves with the entry of the event that has this key, or this id of its sender. Rejects with
   * `journal_id_ambiguous` if several senders gave the id; undefined if none did.
   */
  get(id: string): Promise<JournalEntry | undefined>;
  /** Lists entries in the order of `firstReceivedAt`, the oldest first, each with its body by default. */
  list(selection?: JournalSelection): AsyncIterable<JournalEntry>;
  /**
   * Deletes entries whose `firstReceivedAt` is longer ago. Resolves with their number. It works in small
   * steps, so that receivers go on meanwhile.
   */
  prune(options: { readonly olderThanMs: number }): Promise<number>;
}
