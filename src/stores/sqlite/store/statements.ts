import { HOLD, isHold } from '../../../receiver/dedupe/claim-token.ts';
import { wholeMs } from '../../kit/durations.ts';
import { refusalKey } from '../../kit/refusal-key.ts';
import type { ServerOperation } from '../../kit/server-store.ts';
import type { SqlStatement } from '../statement.ts';
import { NOW } from '../tables.ts';

/**
 * The statements of one operation, which run in one transaction. Each returns at most one row, whose first
 * column is the result. `write` returns none if the operation is refused; then `read` says why, and what time
 * the database has. A completion is never refused, and returns nothing: its result is `completed`. A `peek`
 * writes nothing. `refusal` is there if a release must refuse later claims of its token.
 */
export interface OperationStatements {
  readonly write?: SqlStatement;
  readonly read?: SqlStatement;
  readonly refusal?: SqlStatement;
}

/**
 * The statements of an operation. `notAfter` is the latest time for a claim and a renewal, by the clock of
 * the database: one that runs later does nothing, and its result is `late`.
 */
export function statementsOf(
  scope: string,
  operation: ServerOperation,
  notAfter: number,
): OperationStatements {
  const { key, token } = operation;
  const id = [scope, key];
  const keep = wholeMs(operation.keepMs);
  const taker = [...id, token, isHold(token) ? 0 : 1];
  const refusal = [scope, refusalKey(operation)];
  switch (operation.name) {
    case 'claim': {
      const spacing = wholeMs(operation.spacingMs);
      const values = [...taker, wholeMs(operation.leaseMs), keep, notAfter, ...refusal, spacing, spacing];
      const read = { sql: READ_CLAIM, values: [token, ...id, ...refusal] };
      return { write: { sql: CLAIM, values }, read };
    }
    case 'renew': {
      const values = [...taker, wholeMs(operation.leaseMs), keep, notAfter, ...refusal, 0, 0];
      return {
        write: { sql: RENEW, values },
        read: { sql: READ_RENEWAL, values: [token, ...id, ...refusal] },
      };
    }
    case 'complete':
      return { write: { sql: COMPLETE, values: [...id, keep, keep] } };
    case 'release': {
      const values = [keep, operation.handled, ...id, token];
      const release = { write: { sql: RELEASE, values }, read: { sql: READ_RELEASE, values: id } };
      const refuse = wholeMs(operation.refuseMs);
      if (refuse === 0) return release;
      return { ...release, refusal: { sql: REFUSE, values: [...refusal, refuse, refuse] } };
    }
    case 'peek':
      return { read: { sql: PEEK, values: id } };
  }
}

/** The row that the statement has found no longer counts. */
const IS_EXPIRED = 'event.expires_at <= excluded.first_claimed_at';
/** The claim that the statement has found, or that it makes, is not a run. */
const IS_HOLD = `token glob '${HOLD}*'`;
/** The token has the id already: nothing is counted again. */
const IS_HELD = 'event.token = excluded.token and event.lease_ends_at is not null';
/**
 * A clock that was set back says nothing about the time between two claims. One attempt too many parks an
 * event early, but one too few loses it.
 */
const IS_SPACED = 'event.counted_at > excluded.counted_at or event.counted_at + ? <= excluded.counted_at';

/**
 * Gives an id to a token whose claims are not refused, as its first claim or as a further one.
 * `excluded.first_claimed_at` is now, and `excluded.attempt` is 0 for a hold and 1 for a run. Until a run is
 * counted, `counted_at` is 0, so that an earlier version counts the next one too.
 */
const TAKE = `insert into posthorn_events as event (
  scope, key, token, first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at,
  attempt, spaced_attempts, abandoned
)
select scope, key, token, now + keep, now + keep, now, iif(runs, now, 0), now + lease, runs, runs, 0
from (select ? as scope, ? as key, ? as token, ? as runs, ? as lease, ? as keep, ${NOW} as now)
where now <= ?
  and not exists (select 1 from posthorn_events where scope = ? and key = ? and expires_at > ${NOW})
on conflict (scope, key) do update set
  token = excluded.token,
  lease_ends_at = excluded.lease_ends_at,
  expires_at = excluded.expires_at,
  first_claimed_at = case
    when ${IS_EXPIRED} then excluded.first_claimed_at
    when ${IS_HELD} or event.attempt > 0 then event.first_claimed_at
    else excluded.first_claimed_at
  end,
  handled = iif(${IS_EXPIRED}, null, event.handled),
  attempt = case
    when ${IS_EXPIRED} then excluded.attempt
    when ${IS_HELD} then event.attempt
    else event.attempt + excluded.attempt
  end,
  abandoned = case
    when ${IS_EXPIRED} then 0
    when ${IS_HELD} then event.abandoned
    else event.abandoned + (event.lease_ends_at is not null and not event.${IS_HOLD})
  end,
  spaced_attempts = case
    when ${IS_EXPIRED} then excluded.attempt
    when ${IS_HELD} or excluded.attempt = 0 then event.spaced_attempts
    else event.spaced_attempts + (${IS_SPACED})
  end,
  counted_at = case
    when ${IS_EXPIRED} then excluded.counted_at
    when ${IS_HELD} or excluded.attempt = 0 then event.counted_at
    else iif(${IS_SPACED}, excluded.counted_at, event.counted_at)
  end`;

const CLAIM = `${TAKE}
where ${IS_EXPIRED} or event.token = excluded.token or event.token is not null
  and (event.lease_ends_at is null or event.lease_ends_at <= excluded.first_claimed_at)
returning 'claimed ' || (attempt + (${IS_HOLD})) || ' ' || abandoned || ' ' || max(0, ${NOW} - first_claimed_at)
  || ' ' || spaced_attempts || ' ' || coalesce(handled, '') as result`;

const RENEW = `${TAKE}
where ${IS_EXPIRED} or ${IS_HELD}
returning 'held' as result`;

/** Completes the id for any token: its event was handled, even if the lease of another token holds now. */
const COMPLETE = `insert into posthorn_events as event (scope, key, first_expires_at, expires_at)
values (?, ?, ${NOW} + ?, ${NOW} + ?)
on conflict (scope, key) do update set
  token = null, lease_ends_at = null, first_claimed_at = null, counted_at = null, attempt = null,
  spaced_attempts = null, abandoned = null, handled = null,
  expires_at = excluded.expires_at`;

const RELEASE = `update posthorn_events set
  lease_ends_at = null, expires_at = ${NOW} + ?, handled = coalesce(nullif(?, ''), handled)
where scope = ? and key = ? and token = ? and expires_at > ${NOW}
returning 'released' as result`;

/** Refuses claims of a token, by a row of its own: another token may have the row of the id. */
const REFUSE = `insert into posthorn_events (scope, key, first_expires_at, expires_at)
values (?, ?, ${NOW} + ?, ${NOW} + ?)
on conflict (scope, key) do update set expires_at = excluded.expires_at`;

const IS_COMPLETED = `event.token is null and event.expires_at > ${NOW}`;

const FIND = '(select 1) left join posthorn_events as event on event.scope = ? and event.key = ?';

/** The row that {@link REFUSE} has made for the token. */
const FIND_REFUSAL = `left join posthorn_events as refusal
  on refusal.scope = ? and refusal.key = ? and refusal.expires_at > ${NOW}`;

/**
 * An id that is neither completed nor busy could have been claimed: the claim was late, or a lease has ended
 * since.
 */
const READ_CLAIM = `select case
  when ${IS_COMPLETED} then 'completed'
  when event.token <> ? and event.lease_ends_at > ${NOW} then 'busy ' || (event.lease_ends_at - ${NOW})
  else coalesce('busy ' || (refusal.expires_at - ${NOW}), 'late')
end as result, ${NOW} as now from ${FIND} ${FIND_REFUSAL}`;

const READ_RENEWAL = `select case
  when ${IS_COMPLETED} then 'completed'
  when event.expires_at > ${NOW}
    and (event.token <> ? or event.token is not null and event.lease_ends_at is null) then 'lost'
  else iif(refusal.expires_at is not null, 'lost', 'late')
end as result, ${NOW} as now from ${FIND} ${FIND_REFUSAL}`;

const PEEK = `select case
  when ${IS_COMPLETED} then 'completed'
  when event.lease_ends_at > ${NOW} then 'running'
  else 'unknown'
end as result, ${NOW} as now from ${FIND}`;

const READ_RELEASE = `select iif(${IS_COMPLETED}, 'completed', 'lost') as result, ${NOW} as now from ${FIND}`;

/**
 * Rows that one clean-up looks at. Every so many completions look at twice as many rows, so the table shrinks
 * whenever it holds more than it should.
 */
const BATCH_SIZE = 100;

/** The number of completions until rows are deleted. */
export const CLEANING_INTERVAL = 50;

/**
 * The rows of all scopes that were to expire first. They have been expired for an hour, because the retention
 * of most began anew when they were completed, a moment after their claim.
 */
const DUE = `(scope, key) in (
  select scope, key from posthorn_events
  where first_expires_at <= ${NOW} - 3600000
  order by first_expires_at limit ${BATCH_SIZE}
)`;

/**
 * Deletes the expired ones of a batch. The others were completed long after their claim: each takes the place
 * of its new expiry, so that no later clean-up looks at it before then.
 */
export const CLEAN_UP: readonly SqlStatement[] = [
  { sql: `delete from posthorn_events where expires_at <= ${NOW} and ${DUE}`, values: [] },
  {
    sql: `update posthorn_events set first_expires_at = expires_at where expires_at > ${NOW} and ${DUE}`,
    values: [],
  },
];
