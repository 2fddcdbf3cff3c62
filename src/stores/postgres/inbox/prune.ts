import { performance } from '../../../receiver/timing/process-clock.ts';
import { columnOf, type PostgresPool } from '../client.ts';
import { withClient } from '../connection.ts';
import { explain } from '../errors.ts';
import { type RecordStatements, recordStatements, rerunStatements } from './record.ts';

/** Rows that one statement looks at: some hundredths of a second of work. */
const BATCH_SIZE = 5_000;

const BATCH_LIMIT_MS = 30_000;

/**
 * Deletes old records of a scope in batches, in the order of the primary key; resolves with their number.
 * `schema` is quoted.
 */
export async function prune(
  pool: PostgresPool,
  schema: string,
  scope: string,
  olderThanMs: number,
): Promise<number> {
  let deleted = 0;
  try {
    // Reruns first: if their table is missing, nothing is deleted.
    for (const statements of [rerunStatements(schema), recordStatements(schema)])
      deleted += await pruneTable(pool, statements, scope, olderThanMs);
    return deleted;
  } catch (error) {
    throw explain(schema, error);
  }
}

async function pruneTable(
  pool: PostgresPool,
  { columns: [, ...columns], table }: RecordStatements,
  scope: string,
  olderThanMs: number,
): Promise<number> {
  const statement = deleteBatch(table, columns);
  let deleted = 0;
  let last: readonly unknown[] = columns.map(() => '');
  for (;;) {
    const values = [scope, ...last, olderThanMs];
    const endsAt = performance.now() + BATCH_LIMIT_MS;
    const result = await withClient(pool, endsAt, (connection) => connection.query(statement, values));
    deleted += Number(columnOf(result, 'deleted') ?? 0);
    if (Number(columnOf(result, 'looked_at')) !== BATCH_SIZE) return deleted;
    last = columns.map((column) => columnOf(result, column));
  }
}

/**
 * Leaves a row that is locked: a rerun keeps the row of its event until its handler has ended.
 *
 * `$1` is the scope, then come the columns of the last row of the batch before, and the age in milliseconds.
 */
function deleteBatch(table: string, columns: readonly string[]): string {
  const key = columns.join(', ');
  const last = columns.map((_, index) => `$${index + 2}`).join(', ');
  const isSame = columns.map((column) => `record.${column} = batch.${column}`).join(' and ');
  return `with batch as (
  select ${key}, handled_at from ${table}
  where scope = $1 and (${key}) > (${last})
  order by scope, ${key} limit ${BATCH_SIZE}
), old as (
  select record.ctid from ${table} as record join batch on ${isSame}
  where record.scope = $1 and batch.handled_at < now() - $${columns.length + 2} * interval '1 millisecond'
  for update of record skip locked
), gone as (
  delete from ${table} where ctid = any (array(select ctid from old)) returning 1
)
select ${key}, (select count(*) from gone)::text as deleted,
  (select count(*) from batch)::text as looked_at
from batch order by ${columns.map((column) => `${column} desc`).join(', ')} limit 1`;
}
