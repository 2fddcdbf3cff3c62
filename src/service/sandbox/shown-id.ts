import { createHash } from 'node:crypto';

const SHOWN_LENGTH = 1_000;

/**
 * The id by which the page shows an event, and asks for it. It is the event's own, unless that is too long
 * for an address, or is not well-formed Unicode. Then it is a part of the id, with a digest of the whole.
 */
export function shownId(id: string): string {
  if (id.length <= SHOWN_LENGTH && id.isWellFormed()) return id;
  // UTF-16, because UTF-8 would make all lone surrogates the same.
  const digest = createHash('sha256').update(id, 'utf16le').digest('hex');
  return `${id.slice(0, SHOWN_LENGTH).toWellFormed()}… (SHA-256 ${digest})`;
}

/** Returns true if `asked` is the id of an event, or the one by which the page shows it. */
export function isAskedFor(id: string, asked: string): boolean {
  return id === asked || (asked.endsWith(')') && shownId(id) === asked);
}
