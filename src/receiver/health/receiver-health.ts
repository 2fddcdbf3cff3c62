import type { DeadLetters } from '../dead-letters/dead-letters.ts';
import type { TimeLimitedStore } from '../dedupe/time-limited.ts';
import type { JournalWriter } from '../journal/journal-writer.ts';
import type { Health } from './health.ts';
import { LetterCount } from './letter-count.ts';
import { StoreProbe } from './store-probe.ts';

/** The parts of a receiver whose health it tells. */
interface HealthParts {
  readonly store: Pick<TimeLimitedStore, 'release'>;
  readonly deadLetters: DeadLetters | undefined;
  readonly journal: JournalWriter | undefined;
  readonly now: () => number;
}

/** Asks the store and the dead letters of a receiver at once, and its journal for its last writes. */
export class ReceiverHealth {
  readonly #storeProbe: StoreProbe;
  readonly #letterCount: LetterCount | undefined;
  readonly #journal: JournalWriter | undefined;

  constructor({ deadLetters, journal, now, store }: HealthParts) {
    this.#storeProbe = new StoreProbe(store, now);
    this.#letterCount = deadLetters && new LetterCount(deadLetters, now);
    this.#journal = journal;
  }

  /** Never rejects. */
  async ask(): Promise<Pick<Health, 'store' | 'deadLetters' | 'journal'>> {
    const [store, deadLetters] = await Promise.all([this.#storeProbe.ask(), this.#letterCount?.ask()]);
    return { store, deadLetters, journal: this.#journal?.health };
  }
}
