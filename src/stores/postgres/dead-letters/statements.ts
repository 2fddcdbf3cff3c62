import { REMOVED_KEPT_MS } from '../../kit/durations.ts';
import { BODY_MARK, LONGEST_HEAD } from '../../kit/serialized-letter.ts';
import { DURABLE_COMMIT } from '../durable-commit.ts';

/** The most times that a statement is sent that PostgreSQL refuses because of another transaction. */
export const MAX_TRIES = 5;

/** True if the caller, whose time limit is `$1`, has given up by now. */
const IS_LATE = 'clock_timestamp() > to_timestamp($1::float8 / 1000)';

/** The least bigint. */
const BEFORE_ALL = '(-9223372036854775808)::bigint';

const PLACE = "parked_at || '/' || position";

/** PostgreSQL reads only the beginning of a long text for it. For its last character it would read it all. */
const HEAD = `left(letter, greatest(strpos(left(letter, ${LONGEST_HEAD}), '${BODY_MARK}') - 1, 0))`;

/** The statements on dead letters. `$1` is the time limit of the caller, `$2` the scope and `$3` the key. */
export interface LetterStatements {
  /** Stores the text `$5` of a dead letter that was parked at `$4`. */
  readonly put: string;
  /** Returns the `letter`. */
  readonly get: string;
  readonly remove: string;
  /**
   * Returns `key`, `letter` and `place` of the dead letter after the place of `$4` and `$5`, or after the
   * key.
   */
  readonly next: string;
  /** Returns `heads`, JSON of the key, head and place of each of the `$6` dead letters after that. */
  readonly heads: string;
}

/**
 * The statements on the dead letters of a schema, which is quoted, under a time limit. Each returns one row
 * of texts: `now` is the time of PostgreSQL in milliseconds, `late` is `true` if its caller has given up, and
 * `found` is `true` if there was a dead letter to return or to change.
 *
 * A dead letter that is written in place of another keeps its position if both were parked in the same
 * millisecond. The row of a removed dead letter is kept for a while, for lists that continue after it.
 *
 * PostgreSQL comes to the lock of a row once all of WHERE holds, so a condition there limits how long it
 * waits: a caller that has given up must not leave a process behind that waits.
 */
export function letterStatements(schema: string, limitMs: number): LetterStatements {
  const table = `${schema}.dead_letters`;
  const after = `from ${table}
where scope = $2 and letter is not null and (parked_at, position) > (
  coalesce($4::bigint, (select parked_at from ${table} where scope = $2 and key = nullif($3, '')), ${BEFORE_ALL}),
  coalesce($5::bigint, (select position from ${table} where scope = $2 and key = nullif($3, '')), 0)
)
order by parked_at, position`;
  const limitsWait = `set_config('lock_timeout', '${Math.ceil(limitMs / MAX_TRIES)}', true) is not null`;
  return {
    put: withTime(`action as (
insert into ${table} as present (scope, key, parked_at, letter)
select $2, $3, $4::bigint, $5::text where ${limitsWait} and not ${IS_LATE}
on conflict (scope, key) do update set
  parked_at = excluded.parked_at, letter = excluded.letter, removed_at = null,
  position = case
    when present.letter is not null and present.parked_at = excluded.parked_at then present.position
    else excluded.position
  end
where not ${IS_LATE}
returning 'true' as found
)`),

    get: withTime(`action as (
select 'true' as found, letter from ${table} where scope = $2 and key = $3 and letter is not null
)`),

    remove: withTime(`forgotten as (
  delete from ${table} where ctid = any (array(
    select ctid from ${table} where removed_at < now() - interval '${REMOVED_KEPT_MS} milliseconds'
    order by removed_at limit 100 for update skip locked
  ))
), action as (
update ${table} set letter = null, removed_at = clock_timestamp()
where scope = $2 and key = $3 and letter is not null and ${limitsWait} and not ${IS_LATE}
returning 'true' as found
)`),

    next: withTime(`action as (
select 'true' as found, key, letter, ${PLACE} as place ${after} limit 1
)`),

    heads: withTime(`letters as (
  select key, letter, parked_at, position ${after} limit $6::int
), action as (
select 'true' as found, coalesce(json_agg(
  json_build_object('key', key, 'head', ${HEAD}, 'place', ${PLACE}) order by parked_at, position
), '[]')::text as heads from letters
)`),
  };
}

/** The statement around queries of a WITH clause, of which the one named `action` returns at most one row. */
function withTime(queries: string): string {
  return `
with ${queries}
select (extract(epoch from clock_timestamp()) * 1000)::text as now, (${IS_LATE})::text as late, ${DURABLE_COMMIT}, action.*
from (values (1)) as one left join action on true`;
}
