import { performance } from '../../../receiver/timing/process-clock.ts';
import { messageOf } from '../../../receiver/values/foreign-values.ts';
import { InboxError } from '../../kit/inbox/inbox-error.ts';
import type { RecordKey } from '../../kit/inbox/once.ts';
import { columnOf, type PostgresPool } from '../client.ts';
import { withClient } from '../connection.ts';
import { explain } from '../errors.ts';
import { keyOf, recordStatements } from './record.ts';

const LIMIT_MS = 5_000;

/** Resolves with true if a committed record is there. `schema` is quoted. Rejects with {@link InboxError}. */
export async function hasRecord(pool: PostgresPool, schema: string, key: RecordKey): Promise<boolean> {
  const { isRecord, table } = recordStatements(schema);
  const statement = `select exists (
  select 1 from ${table} where ${isRecord}
)::text as found`;
  try {
    const result = await withClient(pool, performance.now() + LIMIT_MS, (connection) =>
      connection.query(statement, keyOf(key)),
    );
    return columnOf(result, 'found') === 'true';
  } catch (error) {
    const cause = explain(schema, error);
    const message = `the inbox could not look for the record of ${JSON.stringify(key.handler)}: ${messageOf(cause)}`;
    throw new InboxError('inbox_unavailable', message, { cause });
  }
}
