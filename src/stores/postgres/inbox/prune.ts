import { performance } from '../../../receiver/timing/process-clock.ts';
import { columnOf, type PostgresPool } from '../client.ts';
import { withClient } from '../connection.ts';

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
  const statement = deleteBatch(schema);
  let deleted = 0;
  let last: readonly unknown[] = ['', ''];
  for (;;) {
    const values = [scope, ...last, olderThanMs];
    const endsAt = performance.now() + BATCH_LIMIT_MS;
    const result = await withClient(pool, endsAt, (connection) => connection.query(statement, values));
    deleted += Number(columnOf(result, 'deleted') ?? 0);
    if (Number(columnOf(result, 'looked_at')) !== BATCH_SIZE) return deleted;
    last = [columnOf(result, 'event_key'), columnOf(result, 'handler')];
  }
}

/** `$1` is the scope, `$2` and `$3` the last row of the batch before, `$4` the age in milliseconds. */
function deleteBatch(schema: string): string {
  return `with batch as (
  select scope, event_key, handler, handled_at from ${schema}.inbox
  where scope = $1 and (event_key, handler) > ($2, $3)
  order by scope, event_key, handler limit ${BATCH_SIZE}
), gone as (
  delete from ${schema}.inbox using batch
  where inbox.scope = batch.scope and inbox.event_key = batch.event_key and inbox.handler = batch.handler
    and batch.handled_at < now() - $4 * interval '1 millisecond' returning 1
)
select event_key, handler, (select count(*) from gone)::text as deleted,
  (select count(*) from batch)::text as looked_at
from batch order by event_key desc, handler desc limit 1`;
}
