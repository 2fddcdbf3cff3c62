/**
 * The time limit of a server for an operation. It ends a little before that of the receiver, because only the
 * store knows the reason of a failure.
 */
export function limitOfServer(commandTimeoutMs: number): number {
  return Math.ceil(0.95 * commandTimeoutMs);
}

/** A thousand years: the times of a server have a maximum. */
const LONGEST_MS = 31_556_952_000_000;

/** Returns a duration in whole milliseconds that any server can add to its time. */
export function wholeMs(ms: number): number {
  return Math.min(Math.ceil(ms), LONGEST_MS);
}

/** The place of a removed dead letter is kept for a day, because a list may continue after it. */
export const REMOVED_KEPT_MS = 86_400_000;
