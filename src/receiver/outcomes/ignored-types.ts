import { show } from '../values/foreign-values.ts';
import { oneLine } from './one-line.ts';

/** Authentic events can have any type, so only this many are remembered. */
const MAX_TYPES = 100;

/** Makes one line about each type that no handler wants. */
export class IgnoredTypes {
  readonly #shown = new Set<string>();
  readonly #advice: string;

  /** `isDefaultProvider` says whether the sender has filters in the words of the interface. */
  constructor(isDefaultProvider = true) {
    const others = isDefaultProvider
      ? "leave them out of the webhook's enabled_events"
      : 'have the sender leave them out';
    this.#advice = `Handle them with on() or onUnhandled(), or ${others}`;
  }

  /** The line about a type; undefined if it had one, or if there were too many types. */
  lineFor(type: string): string | undefined {
    // `show` makes a short copy: a substring would keep the whole text in memory.
    const shown = oneLine(show(type));
    if (this.#shown.has(shown) || this.#shown.size > MAX_TYPES) return undefined;
    this.#shown.add(shown);
    const subject = this.#shown.size > MAX_TYPES ? `more than ${MAX_TYPES} types` : `the type ${shown}`;
    return (
      `posthorn: no handler wants events of ${subject}: they are answered 200 "ignored" and not sent again. ` +
      this.#advice
    );
  }
}
