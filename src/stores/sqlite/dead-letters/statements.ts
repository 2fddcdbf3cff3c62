import { REMOVED_KEPT_MS } from '../../kit/durations.ts';
import { BODY_MARK, LONGEST_HEAD } from '../../kit/serialized-letter.ts';
import type { SqlStatement } from '../statement.ts';
import { NOW } from '../tables.ts';

/**
 * Stores the text of a dead letter. One that is written in place of another keeps its position if both were
 * parked in the same millisecond.
 */
export function putLetter(
  scope: string,
  key: string,
  { parkedAt, text }: { readonly parkedAt: number; readonly text: string },
): SqlStatement {
  const at = Math.min(Math.trunc(parkedAt), Number.MAX_SAFE_INTEGER);
  return { sql: PUT, values: [scope, key, at, scope, at, text] };
}

const PUT = `insert into posthorn_dead_letters as present (scope, key, parked_at, position, letter)
select ?, ?, ?, (
  select coalesce(max(position), 0) + 1 from posthorn_dead_letters where scope = ? and parked_at = ?
), ?
where true
on conflict (scope, key) do update set
  parked_at = excluded.parked_at, letter = excluded.letter, removed_at = null,
  position = iif(
    present.letter is not null and present.parked_at = excluded.parked_at, present.position, excluded.position
  )
returning 1 as stored`;

const PLACE = "parked_at || '/' || position as place";
const LETTER = `key, letter, ${PLACE}`;

/** Returns the key, the text and the place of a dead letter. */
export function getLetter(scope: string, key: string): SqlStatement {
  return { sql: GET, values: [scope, key] };
}

const GET = `select ${LETTER} from posthorn_dead_letters
where scope = ? and key = ? and letter is not null`;

/** Removes a dead letter, and returns a row if there was one. */
export function removeLetter(scope: string, key: string): SqlStatement {
  return { sql: REMOVE, values: [scope, key] };
}

const REMOVE = `update posthorn_dead_letters set letter = null, removed_at = ${NOW}
where scope = ? and key = ? and letter is not null
returning 1 as removed`;

/** Forgets the places of dead letters that were removed long ago. */
export const FORGET_REMOVED: SqlStatement = {
  sql: `delete from posthorn_dead_letters where rowid in (
  select rowid from posthorn_dead_letters where removed_at < ${NOW} - ${REMOVED_KEPT_MS} order by removed_at limit 100
)`,
  values: [],
};

/** The least safe integer of JavaScript. */
const BEFORE_ALL = Number.MIN_SAFE_INTEGER;

/**
 * Returns the key, the text and the place of the dead letter after another one, which is given by its key and
 * its place. Both are empty for the first dead letter; the place alone is empty if only the key is known.
 */
export function nextLetter(scope: string, key: string, place: string): SqlStatement {
  return { sql: NEXT, values: valuesOfAfter(scope, key, place) };
}

/** Returns the key, the head and the place of dead letters after that of {@link nextLetter}. */
export function nextHeads(scope: string, key: string, place: string, most: number): SqlStatement {
  return { sql: NEXT_HEADS, values: [...valuesOfAfter(scope, key, place), most] };
}

function valuesOfAfter(scope: string, key: string, place: string): SqlStatement['values'] {
  const [parkedAt = null, position = null] = place === '' ? [] : place.split('/').map(Number);
  return [parkedAt, scope, key, position, scope, key, scope];
}

const AFTER = `from posthorn_dead_letters, (
  select
    coalesce(?, (select parked_at from posthorn_dead_letters where scope = ? and key = nullif(?, '')),
      ${BEFORE_ALL}) as moment,
    coalesce(?, (select position from posthorn_dead_letters where scope = ? and key = nullif(?, '')), 0) as nth
) as last
where scope = ? and letter is not null and (parked_at, position) > (last.moment, last.nth)
order by parked_at, position`;

const NEXT = `select ${LETTER} ${AFTER} limit 1`;

const MARK = `instr(substr(letter, 1, ${LONGEST_HEAD}), '${BODY_MARK}')`;
const NEXT_HEADS = `select key, substr(letter, 1, max(${MARK} - 1, 0)) as head, ${PLACE} ${AFTER} limit ?`;

/** Counts dead letters without reading them, up to a limit. */
export function countLetters(scope: string, limit: number): SqlStatement {
  const most = Math.min(Math.max(Math.trunc(limit), 0), Number.MAX_SAFE_INTEGER);
  return { sql: COUNT, values: [scope, most] };
}

const COUNT = `select count(*) as count from (
  select 1 from posthorn_dead_letters where scope = ? and letter is not null limit ?
)`;
