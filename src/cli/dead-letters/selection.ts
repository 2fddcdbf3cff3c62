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
}

/** The options that narrow a selection down. */
export function filterOptions(): readonly Option[] {
  return [
    new Option('--type <pattern>', 'of this type, or of types such as transfer.*').argParser(parsePattern),
    new Option(
      '--since <time>',
      'parked since then: ISO 8601 (UTC without a zone), or an age such as 30m, 2h or 3d',
    ).argParser(parseSince),
  ];
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

/** The letters that a command asked for, and the number of those that it did not get. */
export class Selection {
  readonly #ids: readonly string[];
  readonly #options: SelectionOptions;
  #running = 0;
  #missing = 0;
  #unreadable: PosthornError | undefined;

  /** Without ids, selects every letter that the options let through. */
  constructor(ids: readonly string[], options: SelectionOptions) {
    this.#ids = [...new Set(ids)];
    this.#options = options;
  }

  /** The number of letters that were skipped because their handlers may still be running. */
  get running(): number {
    return this.#running;
  }

  /** The number of ids without a letter. */
  get missing(): number {
    return this.#missing;
  }

  /** True if the letters were selected by their ids. */
  get isByIds(): boolean {
    return this.#ids.length > 0;
  }

  async *letters(deadLetters: DeadLetters): AsyncGenerator<DeadLetter, void, undefined> {
    for await (const letter of this.isByIds ? this.#named(deadLetters) : this.#listed(deadLetters)) {
      if (!this.#isMeant(letter)) continue;
      if (isRunning(letter)) this.#running += 1;
      else yield letter;
    }
  }

  /** Throws if the command could not do everything that it was asked for. */
  check(): void {
    if (this.#unreadable !== undefined) throw this.#unreadable;
    if (this.#missing > 0) throw new CommandError('failed', `ids without a dead letter: ${this.#missing}`);
    if (this.isByIds && this.#running > 0) {
      throw new CommandError('failed', `events that may still be running: ${this.#running}; try again later`);
    }
  }

  async *#named(deadLetters: DeadLetters): AsyncGenerator<DeadLetter, void, undefined> {
    for (const id of this.#ids) {
      const letter = await deadLetters.get(id);
      if (letter === undefined) this.#missing += 1;
      else yield letter;
    }
  }

  /** A list reports a damaged letter at its end. That must not stop the command for the others. */
  async *#listed(deadLetters: DeadLetters): AsyncGenerator<DeadLetter, void, undefined> {
    try {
      yield* deadLetters.list();
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

/** The selection of a command that changes something: the usage must name the letters. */
export function readSelection(ids: readonly string[], options: SelectionOptions): Selection {
  const { all, type, since } = options;
  if (all && ids.length > 0) throw usageError('give ids or --all, not both');
  if (!all && ids.length === 0 && type === undefined && since === undefined) {
    throw usageError('say which dead letters: ids, --all, --type or --since');
  }
  return new Selection(ids, options);
}

/** Returns true if the event's handlers may still be running, so that its letter must not be touched. */
export function isRunning({ runningUntil }: DeadLetter): boolean {
  return runningUntil !== undefined && runningUntil > Date.now();
}
