import { randomUUID } from 'node:crypto';
import { wholeMs } from '../kit/durations.ts';
import type { ServerOperation } from '../kit/server-store.ts';
import { refusalWithoutItem } from './errors.ts';
import {
  creation,
  endOfLease,
  ifAbsent,
  type ReleaseTerms,
  renewal,
  unlessChanged,
} from './store/conditional-writes.ts';
import {
  expiryAttributes,
  type FoundId,
  isCompleted,
  isExpired,
  keyOfId,
  openAttributes,
  readId,
} from './store/id-item.ts';
import { type ClaimTerms, claimAnswer, firstClaim, nextClaim } from './store/next-claim.ts';
import type { Attributes, TableSession } from './table.ts';

/** Runs an operation; resolves with its result as `createServerStore` reads it. */
export function runOperation(
  session: TableSession,
  scope: string,
  operation: ServerOperation,
): Promise<string> {
  const { token } = operation;
  const key = keyOfId(scope, operation.key);
  const keepMs = wholeMs(operation.keepMs);
  switch (operation.name) {
    case 'claim': {
      const { spacingMs } = operation;
      return claim(session, key, { token, leaseMs: wholeMs(operation.leaseMs), keepMs, spacingMs });
    }
    case 'renew':
      return renew(session, key, { token, leaseMs: wholeMs(operation.leaseMs), keepMs, spacingMs: 0 });
    case 'complete':
      return complete(session, key, keepMs);
    case 'release':
      return release(session, key, { token, keepMs, handled: operation.handled });
  }
}

/**
 * A first claim is one write. A refusal brings the item, so any other claim is two. The first one creates the
 * item by an UpdateItem, which a table with another key refuses, unlike a PutItem.
 */
async function claim(session: TableSession, key: Attributes, terms: ClaimTerms): Promise<string> {
  let found: FoundId | undefined;
  for (;;) {
    const now = Date.now();
    const present = presentOf(found, now);
    if (present !== undefined && isCompleted(present)) return 'completed';
    const next = present === undefined ? firstClaim(terms, now) : nextClaim(present, terms, now);
    if (typeof next === 'string') return next;
    const revision = randomUUID();
    const attributes = openAttributes(next, revision);
    const condition = present === undefined ? ifAbsent(now) : unlessChanged(present);
    const outcome =
      found === undefined
        ? await session.update({ Key: key, ...creation(attributes) })
        : await session.put({ Item: { ...key, ...attributes }, ...condition });
    if (outcome.isWritten) return claimAnswer(next, now);
    found = present === undefined ? foundAfterAll(outcome.found) : foundIn(outcome.found);
    // The answer to an earlier try was lost.
    if (found?.revision === revision) return claimAnswer(next, now);
  }
}

/** One write, unless the id is absent: then it is created anew for its owner. */
async function renew(session: TableSession, key: Attributes, terms: ClaimTerms): Promise<string> {
  for (;;) {
    const now = Date.now();
    const outcome = await session.update({ Key: key, ...renewal(terms, now) });
    if (outcome.isWritten) return 'held';
    const present = presentOf(foundIn(outcome.found), now);
    if (present !== undefined) return answerToRefusal(present, terms.token);
    const item = { ...key, ...openAttributes(firstClaim(terms, now), randomUUID()) };
    const created = await session.put({ Item: item, ...ifAbsent(now) });
    if (created.isWritten) return 'held';
    foundAfterAll(created.found);
  }
}

/** An owner whose lease was renewed later is refused as well: then this renewal has arrived late. */
function answerToRefusal(present: FoundId, token: string): string {
  if (isCompleted(present)) return 'completed';
  return present.token === token && present.leaseEndsAt !== undefined ? 'held' : 'lost';
}

/** The event was handled, so the write has no condition, and replaces the whole item. */
async function complete(session: TableSession, key: Attributes, keepMs: number): Promise<string> {
  await session.put({ Item: { ...key, ...expiryAttributes(Date.now() + keepMs) } });
  return 'completed';
}

/** Refused for an id that its token does not have; then it writes nothing. */
async function release(session: TableSession, key: Attributes, terms: ReleaseTerms): Promise<string> {
  const now = Date.now();
  const outcome = await session.update({ Key: key, ...endOfLease(terms, now) });
  if (outcome.isWritten) return 'released';
  const present = presentOf(foundIn(outcome.found), now);
  return present !== undefined && isCompleted(present) ? 'completed' : 'lost';
}

function foundIn(item: Attributes | undefined): FoundId | undefined {
  return item === undefined ? undefined : readId(item);
}

/** The item for which a write was refused that needs an absent one. */
function foundAfterAll(item: Attributes | undefined): FoundId {
  if (item !== undefined) return readId(item);
  throw refusalWithoutItem();
}

function presentOf(found: FoundId | undefined, now: number): FoundId | undefined {
  return found === undefined || isExpired(found, now) ? undefined : found;
}
