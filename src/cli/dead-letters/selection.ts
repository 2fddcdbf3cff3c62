import type { DeadLetterSummary, DeadLetters } from '../../receiver/dead-letters/dead-letters.ts';
import { summariesOf } from '../../receiver/dead-letters/summaries.ts';
import type { PosthornError } from '../../receiver/errors.ts';
import { matchesPattern } from '../../receiver/events/pattern.ts';
import { CommandError, usageError } from '../failure.ts';
import { timeText } from '../time-text.ts';
import { checkUnmatchedType } from '../type-option.ts';
import { findBySender, findLetter, isUnreadable } from './find-by-sender.ts';
import type { Source } from './source.ts';

/** The options that select dead letters. */
export interface SelectionOptions {
  readonly all?: boolean;
  readonly type?: string;
  readonly reason?: string;
  /** The earliest time of the parking, in milliseconds since the epoch. */
  readonly since?: number;
  /** The number of dead letters, from the first on. */
  readonly limit?: number;
  /** The id of the dead letter after which the selection begins. */
  readonly after?: string;
}

/** A dead letter whose handlers may still be running, and until when. */
export interface RunningLetter {
  readonly id: string;
  readonly runningUntil: string;
}

/** The dead letters that a command asked for and did not get. */
interface Skipped {
  readonly running: readonly RunningLetter[];
  /**
   * The number of dead letters that only their ids select, because they were too old when they were parked.
   */
  readonly old: number;
  /** The number of dead letters of other providers than the receiver's, which only their ids select. */
  readonly others: number;
  /** The ids without a dead letter. */
  readonly missing: readonly string[];
  /** True if there are dead letters beyond the limit. They are not counted, because that reads them all. */
  readonly more: boolean;
}

/** The number of ids that a message names at most. */
export const MOST_SHOWN_IDS = 10;

function namesOf(ids: readonly string[]): string {
  const names = ids.slice(0, MOST_SHOWN_IDS).map((id) => JSON.stringify(id));
  const hidden = ids.length - names.length;
  return hidden > 0 ? `${names.join(', ')} and ${hidden} more` : names.join(', ');
}

/** The dead letters that a command leaves, unless their ids select them. */
interface Left {
  /** True for dead letters that were parked as `event_too_old`. */
  readonly old?: boolean;
  /** True for dead letters of other providers than the receiver's. */
  readonly others?: boolean;
}

/** The dead letters that a command asked for, and those that it did not get. */
export class Selection {
  readonly #ids: readonly string[];
  readonly #options: SelectionOptions;
  readonly #leaves: Left;
  readonly #running: RunningLetter[] = [];
  readonly #missing: string[] = [];
  #old = 0;
  #others = 0;
  #hasMore = false;
  #isEmpty = true;
  #hasType = false;
  #hasOtherSender = false;
  #unreadable: PosthornError | undefined;

  /** Without ids, selects every dead letter that the options let through, without those that it leaves. */
  constructor(ids: readonly string[], options: SelectionOptions, leaves: Left = {}) {
    this.#ids = [...new Set(ids)];
    this.#options = options;
    this.#leaves = this.isByIds ? {} : leaves;
  }

  get skipped(): Skipped {
    return {
      running: this.#running,
      old: this.#old,
      others: this.#others,
      missing: this.#missing,
      more: this.#hasMore,
    };
  }

  /** True if the list was read and has no dead letter at all. */
  get foundNothing(): boolean {
    return this.#isEmpty && !this.isByIds && this.#unreadable === undefined;
  }

  /** True if the dead letters were selected by their ids. */
  get isByIds(): boolean {
    return this.#ids.length > 0;
  }

  async *letters({ deadLetters, provider }: Source): AsyncGenerator<DeadLetterSummary, void, undefined> {
    const { limit = Number.POSITIVE_INFINITY } = this.#options;
    let count = 0;
    for await (const letter of this.isByIds ? this.#named(deadLetters) : this.#listed(deadLetters)) {
      this.#isEmpty = false;
      if (!this.#isMeant(letter) || this.#skips(letter, provider)) continue;
      this.#hasMore = count >= limit;
      if (this.#hasMore) return;
      count += 1;
      yield letter;
    }
    this.#checkType(provider);
  }

  /**
   * A misspelt type must not look like one without dead letters. New types are known by their dead letters,
   * and those of another sender by the receiver, unless there is one of its dead letters at least.
   */
  #checkType(provider: Source['provider']): void {
    const { type = '*', after } = this.#options;
    if (this.#hasType || this.#hasOtherSender || after !== undefined || this.#unreadable !== undefined)
      return;
    checkUnmatchedType(type, 'no dead letter', provider);
  }

  /** Throws if the command could not do everything that it was asked for. */
  check(): void {
    if (this.#unreadable !== undefined) throw this.#unreadable;
    if (this.#missing.length > 0) {
      throw new CommandError('failed', `ids without a dead letter: ${namesOf(this.#missing)}`);
    }
    if (!this.isByIds || this.#running.length === 0) return;
    const names = namesOf(this.#running.map(({ id }) => id));
    throw new CommandError('failed', `events that may still be running: ${names}; try again later`);
  }

  #skips(letter: DeadLetterSummary, provider: Source['provider']): boolean {
    const { id, runningUntil, reason } = letter;
    if (this.#leaves.others && provider !== undefined && provider.storedName !== letter.provider) {
      this.#others += 1;
      return true;
    }
    if (runningUntil !== undefined && isRunning(letter)) {
      this.#running.push({ id, runningUntil: timeText(runningUntil) });
      return true;
    }
    const isOld = this.#leaves.old === true && reason === 'event_too_old';
    if (isOld) this.#old += 1;
    return isOld;
  }

  async *#named(deadLetters: DeadLetters): AsyncGenerator<DeadLetterSummary, void, undefined> {
    const named: string[] = [];
    const unknown: string[] = [];
    for (const id of this.#ids) {
      const letter = await deadLetters.get(id);
      if (letter !== undefined) yield letter;
      (letter === undefined ? unknown : named).push(id);
    }
    if (unknown.length === 0) return;
    const bySender = await findBySender(deadLetters, unknown);
    for (const eventId of unknown) {
      const id = bySender.get(eventId);
      if (id !== undefined && named.includes(id)) continue;
      const letter = id === undefined ? undefined : await deadLetters.get(id);
      if (letter !== undefined) yield letter;
      else this.#missing.push(eventId);
    }
  }

  /** A list reports a damaged dead letter at its end. That must not stop the command for the others. */
  async *#listed(deadLetters: DeadLetters): AsyncGenerator<DeadLetterSummary, void, undefined> {
    const { after } = this.#options;
    const place = after === undefined ? {} : { after: await findPlace(deadLetters, after) };
    if (after !== undefined) this.#isEmpty = false;
    try {
      yield* summariesOf(deadLetters, place);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      this.#unreadable = error;
    }
  }

  #isMeant({ provider, type, parkedAt, reason }: DeadLetterSummary): boolean {
    this.#hasOtherSender ||= provider !== undefined;
    const { type: pattern = '*', since = Number.NEGATIVE_INFINITY } = this.#options;
    const isOfType = pattern === '*' || (type !== undefined && matchesPattern(pattern, type));
    this.#hasType ||= isOfType;
    return isOfType && parkedAt >= since && reason === (this.#options.reason ?? reason);
  }
}

/** A list after an unknown dead letter would begin with the first one. */
async function findPlace(deadLetters: DeadLetters, after: string): Promise<string> {
  const letter = await findLetter(deadLetters, after);
  if (letter !== undefined) return letter.id;
  throw usageError(
    `--after: no dead letter has the id ${JSON.stringify(after)}; take an id that dead-letters list prints, or ` +
      'leave --after out and begin with the first one',
  );
}

/** The selection of a command that changes something: the usage must name the dead letters. */
export function checkSelection(ids: readonly string[], options: SelectionOptions): void {
  const { all, type, reason, since, limit, after } = options;
  if (all && ids.length > 0) throw usageError('give ids or --all, not both');
  if (ids.length > 0 && (limit !== undefined || after !== undefined)) {
    throw usageError(
      '--limit and --after take a part of the list: give them with --all, --type, --reason or --since',
    );
  }
  if (!all && ids.length === 0 && [type, reason, since].every((filter) => filter === undefined)) {
    throw usageError('say which dead letters: ids, --all, --type, --reason or --since');
  }
}

/** Says for a question which dead letters the options select. */
export function describeSelection({ type, reason, since, limit, after }: SelectionOptions): string {
  const letters = limit === undefined ? 'all dead letters' : `up to ${limit} dead letters`;
  const filters = [
    type === undefined ? [] : `of ${type}`,
    reason === undefined ? [] : `with the reason ${reason}`,
    since === undefined ? [] : `parked since ${timeText(since)}`,
    after === undefined ? [] : `after ${after}`,
  ].flat();
  return [letters, ...filters].join(' ');
}

/** Returns true if the event's handlers may still be running, so that its dead letter must not be touched. */
export function isRunning({ runningUntil }: DeadLetterSummary): boolean {
  return runningUntil !== undefined && runningUntil > Date.now();
}
