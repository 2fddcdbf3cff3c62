import { deferSignals } from '../defer-signals.ts';
import { Progress } from '../progress.ts';
import type { IdImport, ImportResult } from './id-import.ts';
import type { ListLine } from './id-list.ts';

/** The number of ids that are in work at once. */
const CONCURRENCY = 16;

/** The invalid lines that are named; the others are only counted. */
const MOST_NAMED = 10;

/** Imports the ids of a list, and counts what becomes of its lines. */
export class ListImport {
  readonly counts: Record<ImportResult | 'invalid' | 'left', number> = {
    imported: 0,
    young: 0,
    known: 0,
    invalid: 0,
    left: 0,
  };
  /** The numbers of the first invalid lines. */
  readonly invalidLines: number[] = [];
  /** The first error of an id, or of the list. After that, and after a signal, no further id is begun. */
  failure: { readonly error: unknown } | undefined;
  readonly #lines: AsyncIterable<ListLine>;
  readonly #ids: IdImport;
  readonly #progress = new Progress();

  constructor(lines: AsyncIterable<ListLine>, ids: IdImport) {
    this.#lines = lines;
    this.#ids = ids;
  }

  async run(): Promise<void> {
    await deferSignals({
      reason: 'the current ids are finished first',
      work: (isSignalled) => Promise.all(Array.from({ length: CONCURRENCY }, () => this.#work(isSignalled))),
    });
    this.#progress.clear();
  }

  /** One of several that take lines from the same list, to its end: the ids that are left are counted. */
  async #work(isSignalled: () => boolean): Promise<void> {
    try {
      for await (const line of this.#lines) {
        this.counts[await this.#take(line, isSignalled)] += 1;
        this.#progress.show(`${this.counts.imported} imported so far`);
      }
    } catch (error) {
      this.failure ??= { error };
    }
  }

  async #take(
    { number, recorded }: ListLine,
    isSignalled: () => boolean,
  ): Promise<keyof ListImport['counts']> {
    if (recorded === undefined) {
      if (this.invalidLines.length < MOST_NAMED) this.invalidLines.push(number);
      return 'invalid';
    }
    if (this.failure !== undefined || isSignalled()) return 'left';
    try {
      return await this.#ids.take(recorded);
    } catch (error) {
      this.failure ??= { error };
      return 'left';
    }
  }
}
