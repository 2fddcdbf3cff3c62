import { performance } from '../../receiver/timing/process-clock.ts';

/** The pause after a full batch, which shows that there is more. */
const NEXT_BATCH_MS = 100;

/** The pause after any other batch, and after a failure. */
const NEXT_LOOK_MS = 60_000;

/** The way in which rows are deleted. */
export interface CleaningRules {
  /** Deletes a batch, and resolves with the number of its rows. */
  readonly deleteBatch: () => Promise<number>;
  /** The number of rows of a full batch: some hundredths of a second of work. */
  readonly batchSize: number;
  /** Called with each failure, which is followed by a further try. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Deletes rows that have expired, in small batches. Operations call `cleanIfDue`, so that no timer
 * keeps the process alive.
 */
export class Cleaning {
  readonly #rules: CleaningRules;
  /** At random, so that the processes of a deployment do not all clean at once. */
  #dueAt: number = performance.now() + Math.random() * NEXT_LOOK_MS;

  constructor(rules: CleaningRules) {
    this.#rules = rules;
  }

  /** Deletes a batch in the background, if it is time. */
  cleanIfDue(): void {
    if (performance.now() < this.#dueAt) return;
    this.#dueAt = Number.POSITIVE_INFINITY;
    void this.#clean();
  }

  async #clean(): Promise<void> {
    const { batchSize, deleteBatch, onFailure } = this.#rules;
    let waitMs = NEXT_LOOK_MS;
    try {
      if ((await deleteBatch()) === batchSize) waitMs = NEXT_BATCH_MS;
    } catch (error) {
      onFailure(error);
    }
    this.#dueAt = performance.now() + waitMs;
  }
}
