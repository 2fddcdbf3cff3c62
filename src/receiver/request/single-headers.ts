import { SignatureError } from '../errors.ts';
import type { HeaderValues } from './headers.ts';

/** The longest value of a header that a provider may read. */
const MAX_LENGTH = 4_096;

/** The headers of a request, each with one value. */
export interface SingleHeaders {
  /**
   * Returns the value of a header, whose name is in any case; undefined if it was not sent. The request is
   * refused if the header has more than 4,096 characters.
   *
   * @throws SignatureError for a header that was sent twice.
   */
  get(name: string): string | undefined;
}

/** Reads headers by name, and notes for errors how they were asked for. */
export class SentHeaders implements SingleHeaders {
  readonly #values: HeaderValues;
  /** The lower-case name of the header that was asked for first. */
  firstAsked: string | undefined;
  /** The first header that was asked for and was not sent. */
  missing: string | undefined;
  isTooLong = false;

  constructor(values: HeaderValues) {
    this.#values = values;
  }

  /** The whole value of the header that was asked for first. */
  get firstValue(): string | undefined {
    return this.firstAsked === undefined ? undefined : this.#values[this.firstAsked]?.[0];
  }

  get(name: string): string | undefined {
    const key = name.toLowerCase();
    this.firstAsked ??= key;
    const values = this.#values[key] ?? [];
    const [value] = values;
    if (values.length > 1)
      throw new SignatureError('signature_repeated', `the header "${key}" was sent ${values.length} times`);
    if (value === undefined) this.missing ??= key;
    if (value === undefined || value.length <= MAX_LENGTH) return value;
    this.isTooLong = true;
    return value.slice(0, MAX_LENGTH);
  }
}
