import { UnavailableError } from '../errors.ts';

/** The bytes that one body holds. */
export interface BodyShare {
  heldBytes: number;
  isReleased: boolean;
  /** Called, once, when the body has to be given up before it has arrived whole. */
  readonly giveWay: (reason: UnavailableError) => void;
}

/**
 * Counts the bytes that bodies hold: those whose signature is not verified yet, and those of events that another process is
 * handling. Bytes count once they are here, whatever length the sender declared. When there are more than `maxBufferedBytes`, the
 * unfinished body with the least recent progress gives way: who lets many bodies stop half-way keeps nobody else out.
 */
export class BodyMemory {
  readonly #maxBufferedBytes: number;
  #heldBytes = 0;
  /** Bodies of which a part has arrived, the one with the least recent progress first. */
  readonly #unfinished = new Set<BodyShare>();

  constructor(maxBufferedBytes: number) {
    this.#maxBufferedBytes = maxBufferedBytes;
  }

  /** A share for a body that is about to be read. */
  open(giveWay: BodyShare['giveWay']): BodyShare {
    return { heldBytes: 0, isReleased: false, giveWay };
  }

  /** A share for a body that is here; undefined where there is no room for it. */
  hold(bytes: number): BodyShare | undefined {
    const share = this.open(() => {});
    return this.finish(share, bytes) ? share : undefined;
  }

  /** More of a body has arrived. */
  grow(share: BodyShare, heldBytes: number): void {
    if (share.isReleased) return;
    this.#unfinished.delete(share);
    this.#unfinished.add(share);
    this.#count(share, heldBytes);
    this.#makeRoom();
  }

  /** A body has arrived whole; false, and its share is released, where those before it leave no room. */
  finish(share: BodyShare, heldBytes: number): boolean {
    this.#unfinished.delete(share);
    this.#count(share, heldBytes);
    this.#makeRoom();
    const fits = this.#heldBytes <= this.#maxBufferedBytes;
    if (!fits) this.release(share);
    return fits;
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

  #makeRoom(): void {
    for (const share of this.#unfinished) {
      if (this.#heldBytes <= this.#maxBufferedBytes) return;
      this.release(share);
      share.giveWay(this.fullError());
    }
  }

  /** The refusal of a body for which there is no room. */
  fullError(): UnavailableError {
    return new UnavailableError(
      'buffer_full',
      `the bodies of unverified deliveries fill maxBufferedBytes (${this.#maxBufferedBytes})`,
    );
  }
}
