import { InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';
import type { DeadLetter, DeadLetters } from '../../receiver/dead-letters/dead-letters.ts';
import { isPosthornError, type PosthornError } from '../../receiver/errors.ts';
import { matchesPattern } from '../../receiver/events/pattern.ts';
import { readDuration } from '../duration.ts';
import { CommandError, usageError } from '../failure.ts';

/** The options that select letters. */
export interface SelectionOptions {
  readonly all?: boolean;
  readonly type?: string;
  /** Milliseconds since the epoch. */
  readonly since?: number;
  /** The number of letters, from the first on. */
  readonly limit?: number;
  /** The id of the letter after which the selection begins. */
  readonly after?: string;
}

/** The options that narrow a selection down. */
export function filterOptions(): readonly Option[] {
  return [
    new Option('--type <pattern>', 'of this type, or of types such as transfer.*').argParser(parsePattern),
    new Option(
      '--since <time>',
      'parked since then: ISO 8601 (UTC without a zone), or an age such as 30m, 2h or 3d',
    ).argParser(parseSince),
    new Option('--limit <number>', 'only the first so many of the list').argParser(parseLimit),
    new Option('--after <id>', 'only those that follow this one in the list'),
  ];
}

function parseLimit(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1 on.');
}

function parsePattern(text: string): string {
  if (text === '*' || /^[^.*]+(\.[^.*]+)*\.([^.*]+|\*)$/.test(text)) return text;
  throw new InvalidArgumentError(
    'It must be a type such as transfer.succeeded, a prefix such as transfer.*, or *.',
  );
}

function parseSince(text: string): number {
  const ageMs = readDuration(text);
  if (ageMs !== undefined) return Date.now() - ageMs;
  if (z.iso.date().safeParse(text).success) return Date.parse(text);
  if (z.iso.datetime({ offset: true, local: true }).safeParse(text).success) {
    return Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
  }
  throw new InvalidArgumentError(
    'It must be a time such as 2026-03-31T09:00:00Z, or an age such as 30m, 2h or 3d.',
  );
}

/** The numbers of letters that a command asked for and did not get. */
export interface Skipped {
  /** Letters whose handlers may still be running. */
  readonly running: number;
  /** Letters that only their ids select, because they were too old when they were parked. */
  readonly old: number;
  /** Ids without a letter. */
  readonly missing: number;
  /** Letters beyond the limit. */
  readonly left: number;
}

/** The letters that a command asked for, and the numbers of those that it did not get. */
export class Selection {
  readonly #ids: readonly string[];
  readonly #options: SelectionOptions;
  readonly #leavesOld: boolean;
  #skipped: Skipped = { running: 0, old: 0, missing: 0, left: 0 };
  #unreadable: PosthornError | undefined;

  /**
   * Without ids, selects every letter that the options let through. `leavesOld` leaves out letters that were
   * parked as `event_too_old`, unless an id selects them.
   */
  constructor(ids: readonly string[], options: SelectionOptions, leavesOld = false) {
    this.#ids = [...new Set(ids)];
    this.#options = options;
    this.#leavesOld = leavesOld && !this.isByIds;
  }

  get skipped(): Skipped {
    return this.#skipped;
  }

  /** True if the letters were selected by their ids. */
  get isByIds(): boolean {
    return this.#ids.length > 0;
  }

  async *letters(deadLetters: DeadLetters): AsyncGenerator<DeadLetter, void, undefined> {
    const { limit = Number.POSITIVE_INFINITY } = this.#options;
    let count = 0;
    for await (const letter of this.isByIds ? this.#named(deadLetters) : this.#listed(deadLetters)) {
      if (!this.#isMeant(letter)) continue;
      if (isRunning(letter)) this.#skip('running');
      else if (this.#leavesOld && letter.reason === 'event_too_old') this.#skip('old');
      else if (count >= limit) this.#skip('left');
      else {
        count += 1;
        yield letter;
      }
    }
  }

  /** Throws if the command could not do everything that it was asked for. */
  check(): void {
    const { missing, running } = this.#skipped;
    if (this.#unreadable !== undefined) throw this.#unreadable;
    if (missing > 0) throw new CommandError('failed', `ids without a dead letter: ${missing}`);
    if (this.isByIds && running > 0) {
      throw new CommandError('failed', `events that may still be running: ${running}; try again later`);
    }
  }

  #skip(reason: keyof Skipped): void {
    this.#skipped = { ...this.#skipped, [reason]: this.#skipped[reason] + 1 };
  }

  async *#named(deadLetters: DeadLetters): AsyncGenerator<DeadLetter, void, undefined> {
    for (const id of this.#ids) {
      const letter = await deadLetters.get(id);
      if (letter === undefined) this.#skip('missing');
      else yield letter;
    }
  }

  /** A list reports a damaged letter at its end. That must not stop the command for the others. */
  async *#listed(deadLetters: DeadLetters): AsyncGenerator<DeadLetter, void, undefined> {
    const { after } = this.#options;
    if (after !== undefined) await checkPlace(deadLetters, after);
    try {
      yield* deadLetters.list(after === undefined ? {} : { after });
    } catch (error) {
      if (!(isPosthornError(error) && error.code === 'dead_letter_unreadable')) throw error;
      this.#unreadable = error;
    }
  }

  #isMeant({ type, parkedAt }: DeadLetter): boolean {
    const { type: pattern = '*', since = Number.NEGATIVE_INFINITY } = this.#options;
    return parkedAt >= since && (pattern === '*' || (type !== undefined && matchesPattern(pattern, type)));
  }
}

/** A list after an unknown letter would begin with the first one. */
async function checkPlace(deadLetters: DeadLetters, after: string): Promise<void> {
  if ((await deadLetters.get(after)) !== undefined) return;
  throw usageError(
    `--after: no dead letter has the id ${JSON.stringify(after)}; take an id that dead-letters list prints, or ` +
      'leave --after out and begin with the first one',
  );
}

/** The selection of a command that changes something: the usage must name the letters. */
export function checkSelection(ids: readonly string[], options: SelectionOptions): void {
  const { all, type, since, limit, after } = options;
  if (all && ids.length > 0) throw usageError('give ids or --all, not both');
  if (ids.length > 0 && (limit !== undefined || after !== undefined)) {
    throw usageError('--limit and --after take a part of the list: give them with --all, --type or --since');
  }
  if (!all && ids.length === 0 && type === undefined && since === undefined) {
    throw usageError('say which dead letters: ids, --all, --type or --since');
  }
}

/** Returns true if the event's handlers may still be running, so that its letter must not be touched. */
export function isRunning({ runningUntil }: DeadLetter): boolean {
  return runningUntil !== undefined && runningUntil > Date.now();
}
