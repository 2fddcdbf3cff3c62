import { Option } from 'commander';
import { serviceParts } from '../../providers/banking-service/service.ts';
import { type JournalEntry, type JournalSelection, journalOutcomes } from '../../receiver/journal/journal.ts';
import { keyOfRecord } from '../../receiver/journal/record.ts';
import { usageError } from '../failure.ts';
import { portionOptions } from '../options.ts';
import { timeOption } from '../time-option.ts';
import { checkUnmatchedType, typeOption } from '../type-option.ts';
import { hasEntry } from './has-entry.ts';
import type { JournalSource } from './journal-source.ts';

/** The entries that show whose events a journal has. */
const LOOKED_AT = 100;

/** The options that narrow a selection of entries down. */
export function filterOptions(): readonly Option[] {
  return [
    typeOption(),
    new Option('--outcome <outcome>', 'what became of the events').choices(journalOutcomes),
    new Option('--resource <id>', 'about this resource, such as a transfer'),
    timeOption('since', 'first received since then'),
    timeOption('until', 'first received before then'),
  ];
}

/** The options of a list of entries. */
export function selectionOptions(): readonly Option[] {
  return [...filterOptions(), ...portionOptions()];
}

/** The entries of a command, and whether others follow. */
export class EntrySelection {
  readonly #source: JournalSource;
  readonly #options: JournalSelection;
  #count = 0;
  #hasMore = false;

  constructor(source: JournalSource, options: JournalSelection) {
    this.#source = source;
    this.#options = options;
  }

  /** True if there are entries beyond the limit. They are not counted, because that reads them all. */
  get hasMore(): boolean {
    return this.#hasMore;
  }

  async *entries(): AsyncGenerator<JournalEntry, void, undefined> {
    const { type, outcome, resource, since, until, bodies, limit = Number.POSITIVE_INFINITY } = this.#options;
    const after = await this.#findPlace();
    const most = Number.isFinite(limit) ? limit + 1 : undefined;
    const selection = { type, outcome, resource, since, until, after, limit: most, bodies };
    for await (const entry of this.#source.journal.list(selection)) {
      this.#hasMore = this.#count >= limit;
      if (this.#hasMore) return;
      this.#count += 1;
      yield entry;
    }
    if (this.#count === 0 && after === undefined) await this.#checkType();
  }

  async #findPlace(): Promise<string | undefined> {
    const { after } = this.#options;
    if (after === undefined) return undefined;
    const entry = await this.#source.journal.get(after);
    if (entry !== undefined) return keyOfRecord(entry);
    throw usageError(
      `--after: the journal has no event with the id ${JSON.stringify(after)}; take an id that events list prints, ` +
        'or leave --after out and begin with the first one',
    );
  }

  /** A misspelt type must not look like one without events. New types are known by their entries. */
  async #checkType(): Promise<void> {
    const { type } = this.#options;
    const { journal, provider } = this.#source;
    if (type === undefined || (await hasEntry(journal, { type }))) return;
    if (provider === undefined && (await this.#hasOtherSender())) return;
    checkUnmatchedType(type, 'no event of the journal', provider);
  }

  /** Looks at the oldest entries only: a journal may have millions, and rarely those of several senders. */
  async #hasOtherSender(): Promise<boolean> {
    for await (const { provider } of this.#source.journal.list({ limit: LOOKED_AT, bodies: false }))
      if (provider !== serviceParts.name) return true;
    return false;
  }
}
