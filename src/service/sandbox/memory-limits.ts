import type { DeliveryAttempt } from './attempt.ts';
import { RefusedError } from './refused-error.ts';

/** Older attempts are forgotten. */
const MAX_ATTEMPTS = 1_000;

/** The length of the bodies of all kept attempts together, and of all deliveries of one request. */
const MAX_CHARACTERS = 67_108_864;

/** Throws {@link RefusedError} if so many deliveries of a body would not fit into memory. */
export function checkTogether(characters: number, deliveries: number): void {
  if (characters * deliveries <= MAX_CHARACTERS) return;
  throw new RefusedError(
    413,
    'Too many large deliveries',
    `${deliveries} deliveries of ${characters} characters would not fit into memory, ${MAX_CHARACTERS} do: ` +
      'ask for fewer duplicates, or for less data',
  );
}

/** The number of attempts to keep, from the newest on; at least one. */
export function keptCount(attempts: readonly DeliveryAttempt[]): number {
  let count = 0;
  let characters = 0;
  for (const { request } of attempts.toReversed()) {
    characters += request.body.length;
    if (count === MAX_ATTEMPTS || (count > 0 && characters > MAX_CHARACTERS)) break;
    count += 1;
  }
  return count;
}
