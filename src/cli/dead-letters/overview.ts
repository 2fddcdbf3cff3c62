import type { DeadLetterSummary } from '../../receiver/dead-letters/dead-letters.ts';
import type { Output } from '../output.ts';
import { colours, line, type Printable } from '../terminal-text.ts';
import { timeText } from '../time-text.ts';
import { valueOfLetter } from './print-letter.ts';

interface Group {
  readonly type: string | undefined;
  readonly reason: string;
  count: number;
}

/** Dead letters counted by type and reason, because nobody reads thousands of lines before a replay. */
export class Overview {
  readonly #groups = new Map<string, Group>();
  #count = 0;
  #oldest = Number.POSITIVE_INFINITY;
  #newest = Number.NEGATIVE_INFINITY;

  /** With `--json` the dead letters are printed as well, one line each. */
  static async of(letters: AsyncIterable<DeadLetterSummary>, output: Output): Promise<Overview> {
    const overview = new Overview();
    for await (const letter of letters) {
      if (output.json) output.print(valueOfLetter(letter), () => '');
      overview.#add(letter);
    }
    return overview;
  }

  get count(): number {
    return this.#count;
  }

  /** The members of the summary. */
  toValue(): object {
    if (this.#count === 0) return { groups: [] };
    const [oldestParkedAt, newestParkedAt] = [timeText(this.#oldest), timeText(this.#newest)];
    return { oldestParkedAt, newestParkedAt, groups: this.#sorted() };
  }

  toLines(): readonly Printable[] {
    if (this.#count === 0) return [];
    const groups = this.#sorted();
    const width = String(groups[0]?.count).length;
    return [
      `parked from ${timeText(this.#oldest)} to ${timeText(this.#newest)}`,
      ...groups.map(
        ({ type = '?', reason, count }) =>
          line`  ${String(count).padStart(width)} ${colours.strong(type)} ${reason}`,
      ),
    ];
  }

  #add({ type, reason, parkedAt }: DeadLetterSummary): void {
    const key = JSON.stringify([type, reason]);
    const group = this.#groups.get(key) ?? { type, reason, count: 0 };
    group.count += 1;
    this.#groups.set(key, group);
    this.#count += 1;
    this.#oldest = Math.min(this.#oldest, parkedAt);
    this.#newest = Math.max(this.#newest, parkedAt);
  }

  /** The largest group first. */
  #sorted(): readonly Group[] {
    return [...this.#groups.values()].sort((one, other) => other.count - one.count);
  }
}
