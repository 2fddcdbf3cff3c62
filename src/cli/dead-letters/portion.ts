import type { DeadLetterSummary } from '../../receiver/dead-letters/dead-letters.ts';
import { deferSignals } from '../defer-signals.ts';
import { isUnreadable } from './find-by-sender.ts';

/** The dead letters that one command works on, by their ids, and how far it is with them. */
export class Portion {
  readonly #ids: readonly string[];
  #tried = 0;
  #lastKept: string | undefined;

  private constructor(ids: readonly string[]) {
    this.#ids = ids;
  }

  /** All ids first: a dead letter that fails again is stored again, and must not be tried twice. */
  static async of(letters: AsyncIterable<DeadLetterSummary>): Promise<Portion> {
    const ids: string[] = [];
    for await (const { id } of letters) ids.push(id);
    return new Portion(ids);
  }

  get size(): number {
    return this.#ids.length;
  }

  /** The ids of the dead letters that were not tried, because of a signal or an error. */
  get untried(): readonly string[] {
    return this.#ids.slice(this.#tried);
  }

  /** The id of the last dead letter that was tried and is still there. */
  get lastKept(): string | undefined {
    return this.#lastKept;
  }

  /**
   * Works on one dead letter after the other, until a signal. `work` takes the id and the number of the dead
   * letter, and resolves with true if the dead letter is gone. `abandon` takes the id of the dead letter
   * whose work a second signal ends. The error of a damaged dead letter, of which its summary did not tell,
   * comes after the others.
   */
  workThrough(
    work: (id: string, number: number) => Promise<boolean>,
    abandon: (id: string) => void = () => {},
  ): Promise<void> {
    return deferSignals({
      reason: 'the current event is finished first',
      abandon: () => this.untried.slice(0, 1).forEach(abandon),
      work: async (isSignalled) => {
        const unreadable: unknown[] = [];
        for (const id of this.#ids) {
          if (isSignalled()) break;
          const isGone = await work(id, this.#tried + 1).catch((error: unknown) => {
            if (!isUnreadable(error)) throw error;
            unreadable.push(error);
          });
          this.#tried += 1;
          // A command cannot begin after one that cannot be read.
          if (isGone === false) this.#lastKept = id;
        }
        if (unreadable.length > 0) throw unreadable[0];
      },
    });
  }
}
