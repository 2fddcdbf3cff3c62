import { randomUUID } from 'node:crypto';
import { afterFirstClaim, type ClaimTerms, type ReleaseTerms } from '../../kit/claim-rule.ts';
import type { Attributes } from '../connection.ts';
import { type ItemUpdate, replacement } from '../item-update.ts';
import { expiryAttributes, type FoundUncompletedId, latestExpiry } from './id-item.ts';

type Condition = Pick<ItemUpdate, 'ConditionExpression' | 'ExpressionAttributeValues'>;

/** `token` and `ttl` are words that DynamoDB reserves. */
const NAMES = { '#token': 'token', '#ttl': 'ttl' };

/** The id is absent, or counts as such. */
export function ifAbsent(now: number): Condition {
  return {
    ConditionExpression: 'attribute_not_exists(pk) or expiresAt <= :latestExpiry',
    ExpressionAttributeValues: { ':latestExpiry': { N: String(latestExpiry(now)) } },
  };
}

/**
 * The item is as it was read. Its revision alone does not say so: a release may arrive a second time, late,
 * after its token has claimed the id again. Then it writes the same revision once more, but the number of the
 * attempt has grown.
 */
export function unlessChanged({ revision, attempt }: FoundUncompletedId): Condition {
  return {
    ConditionExpression: 'revision = :revision and attempt = :attempt',
    ExpressionAttributeValues: { ':revision': { S: revision }, ':attempt': { N: String(attempt) } },
  };
}

/** Creates an id that was never seen. */
export function creation(attributes: Attributes): ItemUpdate {
  return replacement(attributes, Object.keys(attributes), {
    ConditionExpression: 'attribute_not_exists(pk)',
  });
}

/** Extends the lease of its owner. A renewal that arrives once more, late, must not shorten it. */
export function renewal(terms: ClaimTerms, now: number): ItemUpdate {
  const { leaseEndsAt, expiresAt } = afterFirstClaim(terms, '', now);
  return {
    UpdateExpression:
      'set leaseEndsAt = :leaseEndsAt, renewedAt = :now, expiresAt = :expiresAt, #ttl = :ttl, revision = :revision',
    ConditionExpression:
      '#token = :token and attribute_exists(leaseEndsAt) and expiresAt > :latestExpiry and ' +
      '(attribute_not_exists(renewedAt) or renewedAt <= :now)',
    ExpressionAttributeNames: NAMES,
    ExpressionAttributeValues: {
      ':leaseEndsAt': { N: String(leaseEndsAt) },
      ':now': { N: String(now) },
      ...ownerValues(terms.token, expiresAt, now),
    },
  };
}

/** Ends the lease of its owner. */
export function endOfLease({ token, retentionMs, handled }: ReleaseTerms<string>, now: number): ItemUpdate {
  const changes = 'expiresAt = :expiresAt, #ttl = :ttl, revision = :revision';
  const names = handled === undefined ? '' : ', handled = :handled';
  return {
    UpdateExpression: `set ${changes}${names} remove leaseEndsAt`,
    ConditionExpression: '#token = :token and expiresAt > :latestExpiry',
    ExpressionAttributeNames: NAMES,
    ExpressionAttributeValues: {
      ...ownerValues(token, now + retentionMs, now),
      ...(handled !== undefined && { ':handled': { S: handled } }),
    },
  };
}

function ownerValues(token: string, expiresAt: number, now: number) {
  const expiry = expiryAttributes(expiresAt);
  return {
    ':token': { S: token },
    ':revision': { S: randomUUID() },
    ':expiresAt': expiry.expiresAt,
    ':ttl': expiry.ttl,
    ':latestExpiry': { N: String(latestExpiry(now)) },
  };
}
