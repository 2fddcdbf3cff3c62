import { TransientMap } from '../timing/transient-map.ts';
import type { JournalRecord } from './journal.ts';
import { keyOfRecord, mergeRecords } from './record.ts';

/** The most memory for records that wait, or are being written. */
const MAX_BYTES = 16 * 1_048_576;

/** The most records in a batch. */
const MAX_BATCH = 100;

/** A larger batch might not get through in the time of a statement. */
const MAX_BATCH_BYTES = 1_048_576;

/** A record without its texts, its body and its headers. */
const RECORD_BYTES = 1_000;

/** The headers of a sender. To measure them takes longer than all else here. */
const HEADERS_BYTES = 2_000;

/** The numbers of bodies and entries that were left out, because the memory was full. */
export interface LeftOut {
  readonly bodies: number;
  readonly entries: number;
}

interface Waiting {
  readonly record: JournalRecord;
  readonly bytes: number;
}

/**
 * The records that wait to be written, one for each event. While the memory is full, bodies are left out, and
 * then records.
 */
export class WaitingRecords {
  readonly #waiting = new TransientMap<string, Waiting>();
  /** The keys of those with a body. */
  readonly #withBody = new TransientMap<string, string>();
  #bytes = 0;
  /** The bytes of those that were taken, and are not written yet. */
  #takenBytes = 0;
  #leftOut: LeftOut = { bodies: 0, entries: 0 };

  get size(): number {
    return this.#waiting.size;
  }

  get leftOut(): LeftOut {
    return this.#leftOut;
  }

  add(record: JournalRecord): void {
    const key = keyOfRecord(record);
    const earlier = this.#remove(key);
    const merged = measured(earlier === undefined ? record : mergeRecords(earlier.record, record));
    const kept = merged.record.rawBody === undefined || this.#hasRoomFor(merged) ? merged : this.#cut(merged);
    this.#makeRoomFor(kept);
    const fits = this.#hasRoomFor(kept);
    if (!fits) this.#leftOut = { ...this.#leftOut, entries: this.#leftOut.entries + 1 };
    const added = fits ? kept : earlier;
    if (added !== undefined) this.#put(key, added);
  }

  /** True if as much waits as one batch has. */
  get hasWholeBatch(): boolean {
    return this.#waiting.size >= MAX_BATCH || this.#bytes >= MAX_BATCH_BYTES;
  }

  /** Takes a batch of records. Their memory is in use until {@link freeTaken}. */
  takeBatch(): readonly JournalRecord[] {
    const taken: JournalRecord[] = [];
    for (const { bytes, record } of this.#waiting.values()) {
      const fits = taken.length === 0 || this.#takenBytes + bytes <= MAX_BATCH_BYTES;
      if (!fits || taken.length === MAX_BATCH) break;
      this.#takenBytes += bytes;
      taken.push(record);
    }
    for (const record of taken) this.#remove(keyOfRecord(record));
    return taken;
  }

  freeTaken(): void {
    this.#takenBytes = 0;
  }

  /** Cuts off the bodies of others, because they are worth less than an entry. */
  #makeRoomFor(added: Waiting): void {
    for (const key of this.#withBody.values()) {
      if (this.#hasRoomFor(added)) return;
      const waiting = this.#remove(key);
      if (waiting !== undefined) this.#put(key, this.#cut(waiting));
    }
  }

  #cut({ record }: Waiting): Waiting {
    this.#leftOut = { ...this.#leftOut, bodies: this.#leftOut.bodies + 1 };
    return measured({ ...record, rawBody: undefined, headers: undefined });
  }

  #hasRoomFor({ bytes }: Waiting): boolean {
    return this.#bytes + this.#takenBytes + bytes <= MAX_BYTES;
  }

  #put(key: string, waiting: Waiting): void {
    this.#waiting.set(key, waiting);
    this.#bytes += waiting.bytes;
    if (waiting.record.rawBody !== undefined) this.#withBody.set(key, key);
  }

  #remove(key: string): Waiting | undefined {
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) return undefined;
    this.#waiting.delete(key);
    this.#withBody.delete(key);
    this.#bytes -= waiting.bytes;
    return waiting;
  }
}

/** A record with its memory, roughly: a character takes two bytes. */
function measured(record: JournalRecord): Waiting {
  const { id, key = '', type = '', resource = '', rawBody, handled } = record;
  let characters = id.length + key.length + type.length + resource.length;
  for (const name of handled) characters += name.length;
  const contentBytes = rawBody === undefined ? 0 : rawBody.byteLength + HEADERS_BYTES;
  return { record, bytes: RECORD_BYTES + 2 * characters + contentBytes };
}
