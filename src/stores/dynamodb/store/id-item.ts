import type { Refused, UncompletedId } from '../../kit/claim-rule.ts';
import type { Attributes } from '../connection.ts';

/**
 * The most by which clocks may differ. DynamoDB has no clock that a condition could ask, so the times in an
 * item are those of its writer. A lease or a retention counts as over only this much later: two processes may
 * then be five seconds wrong each, in opposite directions. A running event renews its lease when two thirds
 * are left, so with the default `leaseMs` it is safe until clocks differ by 23 seconds. Beyond that:
 *
 * - A claim whose clock is ahead, or a run whose clock is behind: two runs of an event go on side by side.
 * - A claim whose clock is behind, or a killed run whose clock was ahead: the lease is taken later.
 * - A claiming clock that is ahead, or a completing one that was behind, by more than what is left of the
 *   retention: the id is forgotten early.
 */
export const CLOCK_ALLOWANCE_MS = 10_000;

/** DynamoDB deletes by its own clock, so a writer whose clock is slow by less than this loses nothing. */
const CLEANING_DELAY_MS = 3_600_000;

/** The names of the handlers that have finished are JSON, or nothing. */
export type UncompletedIdItem = UncompletedId<string>;

/** An uncompleted id as it was read. */
export interface FoundUncompletedId extends UncompletedIdItem {
  /** New with each write. */
  readonly revision: string;
}

/** A completed id has no token, and no revision. */
export interface CompletedId {
  readonly token: undefined;
  readonly revision: undefined;
  readonly expiresAt: number;
}

/** An id as it was read. */
export type FoundId = FoundUncompletedId | CompletedId;

/** Returns true for an id whose event was handled. */
export function isCompleted(found: FoundId): found is CompletedId {
  return found.token === undefined;
}

/** Returns true for an id that no claim has had: it only refuses claims. */
export function isUnclaimed(found: FoundId): found is FoundUncompletedId {
  return found.token === '';
}

/** The key of an id's item. */
export function keyOfId(scope: string, key: string): Attributes {
  return { pk: { S: `${scope}#id#${key}` }, sk: { S: 'id' } };
}

/** An item that expires at this time or earlier counts as absent. */
export function latestExpiry(now: number): number {
  return now - CLOCK_ALLOWANCE_MS;
}

/** The attributes for the end of an item: of ours in milliseconds, and of DynamoDB's cleaning in seconds. */
export function expiryAttributes(expiresAt: number): { expiresAt: { N: string }; ttl: { N: string } } {
  const ttl = Math.ceil((expiresAt + CLEANING_DELAY_MS) / 1_000);
  return { expiresAt: { N: String(expiresAt) }, ttl: { N: String(ttl) } };
}

/** The attributes of an uncompleted id besides its key. */
export function openAttributes(id: UncompletedIdItem, revision: string): Attributes {
  return {
    ...expiryAttributes(id.expiresAt),
    revision: { S: revision },
    token: { S: id.token },
    attempt: { N: String(id.attempt) },
    spacedAttempts: { N: String(id.spacedAttempts) },
    countedAt: { N: String(id.countedAt) },
    firstClaimedAt: { N: String(id.firstClaimedAt) },
    abandoned: { N: String(id.abandoned) },
    ...(id.handled !== '' && { handled: { S: id.handled } }),
    ...(id.leaseEndsAt !== undefined && { leaseEndsAt: { N: String(id.leaseEndsAt) } }),
    ...(id.refused !== undefined && { refused: { M: refusedAttributes(id.refused) } }),
  };
}

/** Reads the item of an id. */
export function readId(item: Attributes): FoundId {
  const expiresAt = numberIn(item, 'expiresAt');
  const token = item.token?.S;
  if (token === undefined) return { token, revision: undefined, expiresAt };
  return {
    token,
    expiresAt,
    revision: item.revision?.S ?? '',
    attempt: numberIn(item, 'attempt'),
    spacedAttempts: numberIn(item, 'spacedAttempts'),
    countedAt: numberIn(item, 'countedAt'),
    firstClaimedAt: numberIn(item, 'firstClaimedAt'),
    abandoned: numberIn(item, 'abandoned'),
    handled: item.handled?.S ?? '',
    leaseEndsAt: item.leaseEndsAt === undefined ? undefined : numberIn(item, 'leaseEndsAt'),
    refused: item.refused?.M === undefined ? undefined : readRefused(item.refused.M),
  };
}

function refusedAttributes(refused: Refused): Attributes {
  return Object.fromEntries([...refused].map(([token, until]) => [token, { N: String(until) }]));
}

function readRefused(tokens: Attributes): Refused {
  return new Map(Object.keys(tokens).map((token) => [token, numberIn(tokens, token)]));
}

function numberIn(item: Attributes, name: string): number {
  const number = Number(item[name]?.N);
  if (Number.isFinite(number)) return number;
  throw new Error(`the item ${JSON.stringify(item.pk?.S)} has no number "${name}": delete it by hand`);
}
