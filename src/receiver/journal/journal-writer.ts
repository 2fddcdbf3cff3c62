import { randomUUID } from 'node:crypto';
import { JournalError } from '../errors.ts';
import type { PendingWarnings } from '../outcomes/pending-warnings.ts';
import { clearTimeout, performance, setTimeout } from '../timing/process-clock.ts';
import { settledWithin } from '../timing/time-limit.ts';
import { setUnrefTimeout } from '../timing/unref-timeout.ts';
import { isInstance, messageOf } from '../values/foreign-values.ts';
import type { Journal, JournalBatch, JournalRecord } from './journal.ts';
import { type LeftOut, WaitingRecords } from './waiting-records.ts';

/**
 * The wait for further records, unless a batch is whole, so that the entry is there within a second of the
 * answer.
 */
const GATHER_MS = 500;

/** The pause after a failure. */
const RETRY_MS = 1_000;

/**
 * A journal has a limit of its own. This one ends a write that would never end, and keeps no process alive.
 */
const WRITE_LIMIT_MS = 60_000;

const WARN_EACH_MS = 60_000;

/** The least time for the journal after the last runs, also if nothing of the grace is left. */
const LEAST_CLOSE_MS = 1_000;

/** A process should not wait for all of the grace, only because the journal is away. */
const LONGEST_CLOSE_MS = 5_000;

/** The state of the journal. It is not asked: an entry that could not be written shows that it fails. */
export interface JournalHealth {
  /** False from a write that failed until one that succeeds. Deliveries are handled all the same. */
  readonly ok: boolean;
  /** The number of entries that wait to be written. */
  readonly waiting: number;
  /** The bodies and entries that were left out since the start, because 16 MiB waited. */
  readonly leftOut: { readonly bodies: number; readonly entries: number };
  /** The time of the first write that failed; undefined while it answers. */
  readonly failingSince?: number | undefined;
  /** The reason if `ok` is false. The message may hold the address of a server. */
  readonly error?: JournalError | undefined;
}

/**
 * Writes the records of a receiver into its journal, in batches and after the answers. Never throws: a
 * journal that fails changes no delivery. A failed batch is written again until it succeeds.
 */
export class JournalWriter {
  readonly #journal: Journal;
  readonly #now: () => number;
  readonly #warnings: PendingWarnings;
  readonly #records = new WaitingRecords();
  /** The batch that is being written, or has failed. */
  #batch: JournalBatch | undefined;
  #failure: { readonly since: number; readonly error: JournalError } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerMs = 0;
  #isWriting = false;
  #isFlushing = false;
  /** Called when a write has ended, whether it has failed or not. */
  readonly #whenEnded: (() => void)[] = [];
  #warnedAt = Number.NEGATIVE_INFINITY;
  #warnedOf: LeftOut = { bodies: 0, entries: 0 };

  constructor(journal: Journal, now: () => number, warnings: PendingWarnings) {
    this.#journal = journal;
    this.#now = now;
    this.#warnings = warnings;
  }

  get health(): JournalHealth {
    const waiting = this.#records.size + (this.#batch?.records.length ?? 0);
    const { leftOut } = this.#records;
    if (this.#failure === undefined) return { ok: true, waiting, leftOut };
    const { error, since } = this.#failure;
    return { ok: false, waiting, leftOut, failingSince: since, error };
  }

  add(record: JournalRecord): void {
    const isKept = this.#journal.bodies !== false;
    this.#records.add(isKept ? record : { ...record, rawBody: undefined, headers: undefined });
    this.#warnIfDue();
    if (this.#hasWork) this.#schedule();
  }

  /** Writes all that waits without gathering more. Resolves once it is written, or after `limitMs`. */
  async flush(limitMs: number): Promise<void> {
    const endsAt = performance.now() + limitMs;
    while (this.#hasWork && performance.now() < endsAt) {
      this.#isFlushing = true;
      const ended = new Promise<void>((resolve) => this.#whenEnded.push(resolve));
      this.#schedule();
      await settledWithin(ended, endsAt - performance.now());
    }
  }

  /** Writes what is left, until `endsAt` by the monotonic clock. No later report could say what is lost. */
  async close(endsAt: number): Promise<void> {
    const leftMs = endsAt - performance.now();
    await this.flush(Math.min(Math.max(leftMs, LEAST_CLOSE_MS), LONGEST_CLOSE_MS));
    const { waiting } = this.health;
    if (waiting > 0) process.emitWarning(`posthorn: ${waiting} entries were not written to the journal`);
  }

  get #hasWork(): boolean {
    return this.#batch !== undefined || this.#records.size > 0;
  }

  get #isDue(): boolean {
    return this.#isFlushing ? this.#hasWork : this.#records.hasWholeBatch;
  }

  /** Even what is due is written in a later turn of the event loop: no answer waits for it. */
  #schedule(): void {
    if (this.#isWriting || this.#failure !== undefined) return;
    const delayMs = this.#isDue ? 0 : GATHER_MS;
    if (this.#timer !== undefined && delayMs >= this.#timerMs) return;
    clearTimeout(this.#timer);
    this.#timerMs = delayMs;
    this.#timer = setTimeout(() => void this.#writeAll(), delayMs);
  }

  /** Writes batches until little is left, or one fails. */
  async #writeAll(): Promise<void> {
    this.#timer = undefined;
    this.#isWriting = true;
    let isWritten = true;
    do isWritten = await this.#writeBatch();
    while (isWritten && this.#isDue);
    this.#isWriting = false;
    if (!this.#hasWork) this.#isFlushing = false;
    else if (isWritten) this.#schedule();
    else this.#timer = setUnrefTimeout(() => void this.#writeAll(), RETRY_MS);
    for (const resolve of this.#whenEnded.splice(0)) resolve();
  }

  /** Resolves with false if the journal failed. */
  async #writeBatch(): Promise<boolean> {
    // A batch of which only the answer was lost must be the same when it is written again.
    this.#batch ??= { batchId: randomUUID(), records: this.#records.takeBatch() };
    try {
      await this.#record(this.#batch);
    } catch (error) {
      this.#failure = { since: this.#failure?.since ?? this.#now(), error: toJournalError(error) };
      return false;
    }
    this.#batch = undefined;
    this.#records.freeTaken();
    this.#failure = undefined;
    return true;
  }

  async #record(batch: JournalBatch): Promise<void> {
    const written = callRecord(this.#journal, batch);
    if (await settledWithin(written, WRITE_LIMIT_MS, { keepsAlive: false })) return;
    throw new Error(`it did not answer in ${WRITE_LIMIT_MS} ms`);
  }

  #warnIfDue(): void {
    const { bodies, entries } = this.#records.leftOut;
    const leftOut = { bodies: bodies - this.#warnedOf.bodies, entries: entries - this.#warnedOf.entries };
    const isComplete = leftOut.bodies + leftOut.entries === 0;
    if (this.#failure === undefined && isComplete) return;
    if (performance.now() < this.#warnedAt + WARN_EACH_MS) return;
    this.#warnedAt = performance.now();
    if (this.#failure !== undefined) {
      const { error, since } = this.#failure;
      const time = new Date(since).toISOString();
      const waiting = `${this.health.waiting} ${this.health.waiting === 1 ? 'waits' : 'wait'}`;
      this.#warnings.add(
        `journal_failed: since ${time} no entry could be written, and ${waiting}: ${error.message}`,
      );
    }
    if (isComplete) return;
    this.#warnedOf = { bodies, entries };
    this.#warnings.add(
      `journal_incomplete: bodies left out: ${leftOut.bodies}, entries left out: ${leftOut.entries}, because 16 MiB wait for the journal`,
    );
  }
}

async function callRecord(journal: Journal, batch: JournalBatch): Promise<true> {
  await journal.record(batch);
  return true;
}

function toJournalError(cause: unknown): JournalError {
  if (isInstance(cause, JournalError)) return cause;
  return new JournalError('journal_unavailable', `the journal failed: ${messageOf(cause)}`, { cause });
}
