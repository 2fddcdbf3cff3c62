import { randomUUID } from 'node:crypto';
import {
  afterFirstClaim,
  afterForeignRelease,
  afterNextClaim,
  afterOwnRelease,
  attemptOf,
  type ClaimTerms,
  msUntilFree,
  type ReleaseTerms,
  stateOf,
  type UncompletedId,
} from '../../kit/claim-rule.ts';
import { wholeMs } from '../../kit/durations.ts';
import type { ServerAnswer, ServerOperation } from '../../kit/server-store.ts';
import type { Attributes, DynamoConnection, WriteOutcome } from '../connection.ts';
import { refusalWithoutItem } from '../errors.ts';
import { creation, endOfLease, ifAbsent, renewal, unlessChanged } from './conditional-writes.ts';
import {
  CLOCK_ALLOWANCE_MS,
  expiryAttributes,
  type FoundId,
  type FoundUncompletedId,
  isCompleted,
  isUnclaimed,
  keyOfId,
  latestExpiry,
  openAttributes,
  readId,
} from './id-item.ts';

/** Runs operations on ids, each within a time limit of its own. */
export class DynamoOperations {
  readonly #connection: DynamoConnection;
  readonly #scope: string;

  constructor(connection: DynamoConnection, scope: string) {
    this.#connection = connection;
    this.#scope = scope;
  }

  /** Resolves with the answer to an operation. */
  async run(operation: ServerOperation): Promise<ServerAnswer> {
    return {
      text: await answerTo(operation, this.#connection.withNewLimit(), keyOfId(this.#scope, operation.key)),
    };
  }
}

function answerTo(
  operation: ServerOperation,
  connection: DynamoConnection,
  key: Attributes,
): Promise<string> {
  switch (operation.name) {
    case 'claim':
      return claim(connection, key, { ...termsOf(operation), attemptSpacingMs: operation.spacingMs });
    case 'renew':
      return renew(connection, key, termsOf(operation));
    case 'complete':
      return complete(connection, key, wholeMs(operation.keepMs));
    case 'release': {
      const { token, handled } = operation;
      const [retentionMs, refuseClaimsMs] = [wholeMs(operation.keepMs), wholeMs(operation.refuseMs)];
      const terms = {
        token,
        retentionMs,
        handled: handled === '' ? undefined : handled,
        refuseClaimsMs,
        allowanceMs: CLOCK_ALLOWANCE_MS,
      };
      return refuseClaimsMs > 0 ? releaseAndRefuse(connection, key, terms) : release(connection, key, terms);
    }
    case 'peek':
      return peek(connection, key);
  }
}

function termsOf({ token, leaseMs, keepMs }: Extract<ServerOperation, { leaseMs: number }>): ClaimTerms {
  return { token, leaseMs: wholeMs(leaseMs), retentionMs: wholeMs(keepMs) };
}

/** A first claim is one write. A refusal brings the item, so any other claim is two. */
async function claim(connection: DynamoConnection, key: Attributes, terms: ClaimTerms): Promise<string> {
  let found: FoundId | undefined;
  for (;;) {
    const now = Date.now();
    const present = presentOf(found, now);
    if (present !== undefined && isCompleted(present)) return 'completed';
    const msLeft = present === undefined ? 0 : msUntilFree(present, terms.token, now - CLOCK_ALLOWANCE_MS);
    if (msLeft > 0) return `busy ${msLeft}`;
    const next =
      present === undefined ? afterFirstClaim(terms, '', now) : afterNextClaim(present, terms, now);
    const revision = randomUUID();
    const outcome = await write(connection, key, { found, next: openAttributes(next, revision) }, now);
    if (outcome.isWritten) return claimAnswer(next, now);
    found = present === undefined ? foundAfterAll(outcome.found) : foundIn(outcome.found);
    // The answer to an earlier try was lost.
    if (found?.revision === revision) return claimAnswer(next, now);
  }
}

/**
 * Writes an uncompleted id unless the item is another one than was found. The first try creates the item by
 * an UpdateItem, which a table with another key refuses, unlike a PutItem.
 */
function write(
  connection: DynamoConnection,
  key: Attributes,
  { found, next }: { readonly found: FoundId | undefined; readonly next: Attributes },
  now: number,
): Promise<WriteOutcome> {
  if (found === undefined) return connection.update({ Key: key, ...creation(next) });
  const present = presentOf(found, now);
  const condition = present === undefined || isCompleted(present) ? ifAbsent(now) : unlessChanged(present);
  return connection.put({ Item: { ...key, ...next }, ...condition });
}

function claimAnswer(id: UncompletedId<string>, now: number): string {
  const firstClaimedMsAgo = Math.max(0, now - id.firstClaimedAt);
  return ['claimed', attemptOf(id), id.abandoned, firstClaimedMsAgo, id.spacedAttempts, id.handled].join(' ');
}

/** One write, unless the id is absent: then it is created anew for its owner. */
async function renew(connection: DynamoConnection, key: Attributes, terms: ClaimTerms): Promise<string> {
  for (;;) {
    const now = Date.now();
    const outcome = await connection.update({ Key: key, ...renewal(terms, now) });
    if (outcome.isWritten) return 'held';
    const present = presentOf(foundIn(outcome.found), now);
    if (present !== undefined && !isFreeFor(present, terms.token, now))
      return answerToRefusal(present, terms.token);
    const next =
      present === undefined ? afterFirstClaim(terms, '', now) : afterNextClaim(present, terms, now);
    const condition = present === undefined ? ifAbsent(now) : unlessChanged(present);
    const item = { ...key, ...openAttributes(next, randomUUID()) };
    const created = await connection.put({ Item: item, ...condition });
    if (created.isWritten) return 'held';
    foundAfterAll(created.found);
  }
}

/** Returns true for an id that no claim has had, unless it refuses claims of the token. */
function isFreeFor(present: FoundId, token: string, now: number): present is FoundUncompletedId {
  return isUnclaimed(present) && msUntilFree(present, token, latestExpiry(now)) === 0;
}

/** An owner whose lease was renewed later is refused as well: then this renewal has arrived late. */
function answerToRefusal(present: FoundId, token: string): string {
  if (isCompleted(present)) return 'completed';
  return present.token === token && present.leaseEndsAt !== undefined ? 'held' : 'lost';
}

/** The event was handled, so the write has no condition, and replaces the whole item. */
async function complete(connection: DynamoConnection, key: Attributes, keepMs: number): Promise<string> {
  await connection.put({ Item: { ...key, ...expiryAttributes(Date.now() + keepMs) } });
  return 'completed';
}

/** Refused for an id that its token does not have; then it writes nothing. */
async function release(
  connection: DynamoConnection,
  key: Attributes,
  terms: ReleaseTerms<string>,
): Promise<string> {
  const now = Date.now();
  const outcome = await connection.update({ Key: key, ...endOfLease(terms, now) });
  if (outcome.isWritten) return 'released';
  const present = presentOf(foundIn(outcome.found), now);
  return present !== undefined && isCompleted(present) ? 'completed' : 'lost';
}

/** Refuses later claims of the token as well, also on an absent id: one write, or two as for a claim. */
async function releaseAndRefuse(
  connection: DynamoConnection,
  key: Attributes,
  terms: ReleaseTerms<string>,
): Promise<string> {
  let found: FoundId | undefined;
  for (;;) {
    const now = Date.now();
    const present = presentOf(found, now);
    if (present !== undefined && isCompleted(present)) return 'completed';
    const isOwner = present?.token === terms.token;
    const next = isOwner
      ? afterOwnRelease(present, terms, now)
      : afterForeignRelease(present, '', terms, now);
    const revision = randomUUID();
    const outcome = await write(connection, key, { found, next: openAttributes(next, revision) }, now);
    if (outcome.isWritten) return isOwner ? 'released' : 'lost';
    found = present === undefined ? foundAfterAll(outcome.found) : foundIn(outcome.found);
    // The answer to an earlier try was lost.
    if (found?.revision === revision) return isOwner ? 'released' : 'lost';
  }
}

async function peek(connection: DynamoConnection, key: Attributes): Promise<string> {
  const item = await connection.get(key);
  const now = Date.now();
  const present = presentOf(foundIn(item), now);
  return present !== undefined && isCompleted(present) ? 'completed' : stateOf(present, latestExpiry(now));
}

function foundIn(item: Attributes | undefined): FoundId | undefined {
  return item === undefined ? undefined : readId(item);
}

/** The item for which a write was refused that needs an absent one. */
function foundAfterAll(item: Attributes | undefined): FoundId {
  if (item !== undefined) return readId(item);
  throw refusalWithoutItem();
}

/** An id that has expired counts as absent. DynamoDB deletes its item later, within days. */
function presentOf(found: FoundId | undefined, now: number): FoundId | undefined {
  return found === undefined || found.expiresAt <= latestExpiry(now) ? undefined : found;
}
