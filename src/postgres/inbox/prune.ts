import type { PostgresPool } from '../client.ts';
import { withClient } from '../with-client.ts';
import { columnOf, PRUNE_BATCH_SIZE } from './statements.ts';

/** For one batch, which takes some hundredths of a second. */
const BATCH_LIMIT_MS = 30_000;

/** Deletes old records of a scope in batches, in the order of the primary key; resolves with their number. */
export async function prune(
  pool: PostgresPool,
  statement: string,
  scope: string,
  olderThanMs: number,
): Promise<number> {
  let deleted = 0;
  let last: readonly unknown[] = ['', ''];
  for (;;) {
    const values = [scope, ...last, olderThanMs];
    const endsAt = performance.now() + BATCH_LIMIT_MS;
    const result = await withClient(pool, endsAt, (client) => client.query(statement, values));
    deleted += Number(columnOf(result, 'deleted') ?? 0);
    if (columnOf(result, 'looked_at') !== PRUNE_BATCH_SIZE) return deleted;
    last = [columnOf(result, 'event_key'), columnOf(result, 'handler')];
  }
}
