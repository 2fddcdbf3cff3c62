import { basename } from 'node:path';
import { matchesPattern } from '../../receiver/events/pattern.ts';
import {
  type AcceptOptions,
  MAX_SOURCE_LENGTH,
  readAcceptOptions,
} from '../../receiver/handling/ways-in/accept-options.ts';
import { readFetched } from '../../receiver/handling/ways-in/fetched-event.ts';
import type { Settings } from '../../receiver/settings.ts';
import { readInputInParts } from '../input.ts';
import { type Line, readLines } from '../lines.ts';
import type { AcceptCommandOptions } from './accept-options.ts';
import { type LineEvent, type LineProblem, readEventLine } from './event-line.ts';

/** A line of the file, as `accept` takes it. */
export type FileLine = FileEvent | UnreadableLine | OtherLine;

/** A line with an event. */
export interface FileEvent extends Pick<LineEvent, 'event'> {
  readonly kind: 'event';
  readonly number: number;
  readonly options: AcceptOptions;
}

/** A line that is not an event. */
export interface UnreadableLine extends LineProblem {
  readonly kind: 'unreadable';
  readonly number: number;
}

/** A line with an event of another type than `--type` selects. */
interface OtherLine {
  readonly kind: 'other_type';
  readonly number: number;
  readonly type: string;
}

/**
 * The most bytes of a line for each byte of a body: JSON can write a byte as an escape of six characters,
 * such as `\u001f`. So no line is too long if its event fits.
 */
const BYTES_OF_ESCAPE = 6;

/** Room for the headers of an event: those of a request have 16 KiB at most in Node.js. */
const BYTES_BESIDE_EVENT = 65_536;

/** The events of a file, one on each line. Each reading of the file holds one line at a time. */
export class EventFile {
  readonly #file: string;
  readonly #settings: Settings;
  readonly #options: Pick<AcceptCommandOptions, 'account' | 'allowForgotten' | 'type'>;
  readonly #maxLineBytes: number;

  constructor(
    file: string,
    settings: Settings,
    options: Pick<AcceptCommandOptions, 'account' | 'allowForgotten' | 'type'>,
  ) {
    this.#file = file;
    this.#settings = settings;
    this.#options = options;
    this.#maxLineBytes = BYTES_OF_ESCAPE * settings.maxBodyBytes + BYTES_BESIDE_EVENT;
  }

  /** Reads the file from its beginning. */
  async *lines(): AsyncGenerator<FileLine, void, undefined> {
    for await (const line of readLines(readInputInParts(this.#file), this.#maxLineBytes))
      if (!isBlank(line)) yield this.#read(line);
  }

  #read({ number, bytes }: Line): FileLine {
    const { account, allowForgotten } = this.#options;
    if (bytes === undefined) {
      const limit = `${this.#maxLineBytes} bytes: no event within maxBodyBytes (${this.#settings.maxBodyBytes}) is`;
      return { kind: 'unreadable', number, problem: `it is longer than ${limit}`, mayBeObject: true };
    }
    const read = readEventLine(bytes, { given: account, areSeveral: this.#settings.account !== undefined });
    if ('problem' in read) return { kind: 'unreadable', number, ...read };
    const { event, facts } = read;
    const options = { ...facts, source: this.#source, ...(allowForgotten && { allowForgotten }) };
    const type = this.#otherType(event, options);
    return type === undefined
      ? { kind: 'event', number, event, options }
      : { kind: 'other_type', number, type };
  }

  /** The type of an event that `--type` does not select. The receiver refuses an event without a type. */
  #otherType(event: LineEvent['event'], options: AcceptOptions): string | undefined {
    const { type: pattern } = this.#options;
    if (pattern === undefined) return undefined;
    try {
      const { identity } = readFetched(event, readAcceptOptions(options, this.#settings), this.#settings);
      return matchesPattern(pattern, identity.type) ? undefined : identity.type;
    } catch {
      return undefined;
    }
  }

  /** Says in reports where the events came from. */
  get #source(): string {
    return `posthorn events accept ${basename(this.#file)}`.slice(0, MAX_SOURCE_LENGTH).toWellFormed();
  }
}

function isBlank({ bytes }: Line): boolean {
  return bytes !== undefined && bytes.toString().trim() === '';
}
