import { show } from '../foreign-values.ts';
import { oneLine } from './one-line.ts';

/** The types of authentic events are arbitrary: no more than this are remembered. */
const MAX_TYPES = 100;

/** Tells once of each type that no handler wants. */
export class IgnoredTypes {
  readonly #shown = new Set<string>();

  /** The line about a type; undefined if there was one before. */
  lineFor(type: string): string | undefined {
    // `show` makes a short copy: a part of a text would keep the whole of it in memory.
    const shown = oneLine(show(type));
    if (this.#shown.has(shown) || this.#shown.size > MAX_TYPES) return undefined;
    this.#shown.add(shown);
    const subject = this.#shown.size > MAX_TYPES ? `more than ${MAX_TYPES} types` : `the type ${shown}`;
    return (
      `posthorn: no handler wants events of ${subject}: they are answered 200 "ignored" and not sent again. ` +
      "Handle them with on() or onUnhandled(), or leave them out of the webhook's enabled_events"
    );
  }
}
