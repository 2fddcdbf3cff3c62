import type { LatestEvent } from '../../kit/inbox/latest.ts';
import type { RecordKey } from '../../kit/inbox/once.ts';
import type { SqlStatement } from '../statement.ts';
import { NOW } from '../tables.ts';

/** Returns a row if the record is there. */
export function findRecord({ scope, eventKey, handler }: RecordKey): SqlStatement {
  return {
    sql: 'select 1 from posthorn_inbox where scope = ? and event_key = ? and handler = ?',
    values: [scope, eventKey, handler],
  };
}

/** Writes the record. */
export function writeRecord({ scope, eventKey, handler }: RecordKey): SqlStatement {
  return {
    sql: `insert into posthorn_inbox (scope, event_key, handler, handled_at) values (?, ?, ?, ${NOW})`,
    values: [scope, eventKey, handler],
  };
}

/** Creates the table of {@link mark}, which no other connection sees. */
export const CREATE_MARKS: SqlStatement = {
  sql: 'create temp table if not exists posthorn_transaction (id integer primary key, name text)',
  values: [],
};

/** Marks the transaction by a name. */
export function mark(name: string): SqlStatement {
  return { sql: 'insert or replace into temp.posthorn_transaction values (1, ?)', values: [name] };
}

/** Returns a row if the transaction that was marked by a name is there: open, or committed. */
export function findMark(name: string): SqlStatement {
  return { sql: 'select 1 from temp.posthorn_transaction where name = ?', values: [name] };
}

/** Remembers the newest event of a key; returns a row unless a newer one has been handled. */
export function rememberLatest(
  { scope, handler }: RecordKey,
  { key, createdAt, rank }: LatestEvent,
): SqlStatement {
  return { sql: REMEMBER_LATEST, values: [scope, handler, key, createdAt, rank] };
}

const REMEMBER_LATEST = `insert into posthorn_inbox_latest as latest (scope, handler, key, created_at, rank)
values (?, ?, ?, ?, ?)
on conflict (scope, handler, key) do update set created_at = excluded.created_at, rank = excluded.rank
where (excluded.created_at, excluded.rank) >= (latest.created_at, latest.rank)
returning 1 as is_latest`;

/** A record of a scope, by the rest of its key. */
export type RecordPlace = readonly [eventKey: string, handler: string];

/** Records that one transaction looks at: some milliseconds, during which the event loop is blocked. */
const PRUNE_BATCH_SIZE = 5_000;

/** Returns the place at which the batch of records after another one ends; no row for the last batch. */
export function endOfBatch(scope: string, after: RecordPlace): SqlStatement {
  return {
    sql: `select event_key, handler from posthorn_inbox where scope = ? and (event_key, handler) > (?, ?)
order by event_key, handler limit 1 offset ${PRUNE_BATCH_SIZE - 1}`,
    values: [scope, ...after],
  };
}

/** Deletes the records of a batch that are older than this. Without an end, it is the last batch. */
export function deleteRecords(
  scope: string,
  { after, end, olderThanMs }: { after: RecordPlace; end: RecordPlace | undefined; olderThanMs: number },
): SqlStatement {
  return { sql: DELETE_RECORDS, values: [scope, ...after, ...(end ?? [null, null]), olderThanMs] };
}

/** A blob is greater than every text. */
const DELETE_RECORDS = `delete from posthorn_inbox
where scope = ? and (event_key, handler) > (?, ?)
  and (event_key, handler) <= (coalesce(?, x''), coalesce(?, x'')) and handled_at < ${NOW} - ?`;
