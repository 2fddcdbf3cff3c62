import { UnavailableError } from '../errors.ts';

/** One body's share of the memory for bodies. */
export interface BodyShare {
  heldBytes: number;
  isReleased: boolean;
  /** Called once if the body must be dropped while it is unfinished, or waits. */
  giveWay: (reason: UnavailableError) => void;
}

/**
 * Limits the memory for bodies whose signature is not verified yet, and for the bodies of events that wait.
 * These wait for another process, for permits, or for a connection to the store, the queue or the dead
 * letters. Bytes count once they have arrived, whatever length the sender declared. When they exceed
 * `maxBufferedBytes`, the unverified body with the least recent progress gives way, so that a sender of many
 * stalled bodies, or of bodies whose keys come late, cannot keep other senders out.
 */
export class BodyMemory {
  readonly #maxBufferedBytes: number;
  #heldBytes = 0;
  /**
   * Bodies that have arrived in part, or wait for keys of an account. The one with the least recent progress
   * comes first.
   */
  readonly #unfinished = new Set<BodyShare>();

  constructor(maxBufferedBytes: number) {
    this.#maxBufferedBytes = maxBufferedBytes;
  }

  /** Opens a share for a body that is about to be read. */
  open(giveWay: BodyShare['giveWay']): BodyShare {
    return { heldBytes: 0, isReleased: false, giveWay };
  }

  /**
   * Counts a body that is kept while its event waits. Returns false if it does not fit: then nothing is
   * counted, and no other body gives way.
   */
  reserve(bytes: number): boolean {
    const isFull = this.#heldBytes + bytes > this.#maxBufferedBytes;
    if (isFull && this.#finishedBytes + bytes > this.#maxBufferedBytes) return false;
    this.#heldBytes += bytes;
    this.#shrinkToLimit();
    return true;
  }

  /** The bytes that would still be held if all unfinished bodies gave way. */
  get #finishedBytes(): number {
    let bytes = this.#heldBytes;
    for (const share of this.#unfinished) bytes -= share.heldBytes;
    return bytes;
  }

  /** Ends the counting of a body that {@link reserve} has counted. */
  giveBack(bytes: number): void {
    this.#heldBytes -= bytes;
  }

  /** Records that more of a body has arrived. */
  grow(share: BodyShare, heldBytes: number): void {
    if (share.isReleased) return;
    this.#unfinished.delete(share);
    this.#unfinished.add(share);
    this.#count(share, heldBytes);
    this.#shrinkToLimit();
  }

  /**
   * Records that a body has arrived whole. Returns false, and releases the share, if there is no memory for
   * it.
   */
  finish(share: BodyShare, heldBytes: number): boolean {
    this.#unfinished.delete(share);
    this.#count(share, heldBytes);
    this.#shrinkToLimit();
    const fits = this.#heldBytes <= this.#maxBufferedBytes;
    if (!fits) this.release(share);
    return fits;
  }

  /**
   * Waits with a body that has arrived. Meanwhile the body may be dropped, as one that has arrived in part;
   * then this rejects with {@link UnavailableError}.
   */
  whileWaiting<T>(share: BodyShare, awaited: PromiseLike<T>): Promise<T> {
    const gaveWay = new Promise<never>((_resolve, reject) => {
      share.giveWay = reject;
    });
    this.#unfinished.add(share);
    return Promise.race([awaited, gaveWay]).finally(() => this.#unfinished.delete(share));
  }

  release(share: BodyShare): void {
    share.isReleased = true;
    this.#unfinished.delete(share);
    this.#count(share, 0);
  }

  #count(share: BodyShare, heldBytes: number): void {
    this.#heldBytes += heldBytes - share.heldBytes;
    share.heldBytes = heldBytes;
  }

  #shrinkToLimit(): void {
    for (const share of this.#unfinished) {
      if (this.#heldBytes <= this.#maxBufferedBytes) return;
      this.release(share);
      share.giveWay(this.fullError());
    }
  }

  /** The error for a body that does not fit. */
  fullError(): UnavailableError {
    return new UnavailableError(
      'buffer_full',
      `the bodies in memory fill maxBufferedBytes (${this.#maxBufferedBytes})`,
    );
  }
}
