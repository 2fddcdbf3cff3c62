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

/** Writes the record, unless it is there: a rerun does not change it. */
export function ensureRecord(key: RecordKey): SqlStatement {
  const { sql, values } = writeRecord(key);
  return { sql: `${sql} on conflict do nothing`, values };
}

/** Returns a row if the record of a rerun is there. */
export function findRerun({ scope, eventKey, handler }: RecordKey, run: string): SqlStatement {
  return {
    sql: 'select 1 from posthorn_inbox_reruns where scope = ? and event_key = ? and handler = ? and run = ?',
    values: [scope, eventKey, handler, run],
  };
}

/** Writes the record of a rerun. */
export function writeRerun({ scope, eventKey, handler }: RecordKey, run: string): SqlStatement {
  return {
    sql: `insert into posthorn_inbox_reruns (scope, event_key, handler, run, handled_at)
values (?, ?, ?, ?, ${NOW})`,
    values: [scope, eventKey, handler, run],
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

/** A table of records, and the columns of its key after the scope. */
export interface RecordTable {
  readonly name: string;
  readonly columns: readonly string[];
}

/** Reruns first: if their table is missing, nothing is deleted. */
export const recordTables: readonly RecordTable[] = [
  { name: 'posthorn_inbox_reruns', columns: ['event_key', 'handler', 'run'] },
  { name: 'posthorn_inbox', columns: ['event_key', 'handler'] },
];

/** A record of a scope, by the values of the columns. */
export type RecordPlace = readonly string[];

/** Records that one transaction looks at: some milliseconds, during which the event loop is blocked. */
const PRUNE_BATCH_SIZE = 5_000;

/** Returns the place at which the batch of records after another one ends; no row for the last batch. */
export function endOfBatch({ name, columns }: RecordTable, scope: string, after: RecordPlace): SqlStatement {
  const key = columns.join(', ');
  return {
    sql: `select ${key} from ${name} where scope = ? and (${key}) > (${after.map(() => '?').join(', ')})
order by ${key} limit 1 offset ${PRUNE_BATCH_SIZE - 1}`,
    values: [scope, ...after],
  };
}

/** Deletes the records of a batch that are older than this. Without an end, it is the last batch. */
export function deleteRecords(
  { name, columns }: RecordTable,
  scope: string,
  { after, end, olderThanMs }: { after: RecordPlace; end: RecordPlace | undefined; olderThanMs: number },
): SqlStatement {
  const key = columns.join(', ');
  // A blob is greater than every text.
  const last = columns.map(() => "coalesce(?, x'')").join(', ');
  return {
    sql: `delete from ${name}
where scope = ? and (${key}) > (${after.map(() => '?').join(', ')})
  and (${key}) <= (${last}) and handled_at < ${NOW} - ?`,
    values: [scope, ...after, ...(end ?? columns.map(() => null)), olderThanMs],
  };
}
