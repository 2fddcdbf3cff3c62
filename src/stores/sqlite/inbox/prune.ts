import { inNextTurn } from '../../../receiver/timing/next-turn.ts';
import type { BUSY, SqliteConnection } from '../connection.ts';
import { explain } from '../errors.ts';
import { writeInTurn } from '../single-write.ts';
import { CHANGED_ROWS } from '../statement.ts';
import { deleteRecords, endOfBatch, type RecordPlace, type RecordTable, recordTables } from './statements.ts';

const BATCH_LIMIT_MS = 30_000;

interface Batch {
  readonly end: RecordPlace | undefined;
  readonly deleted: number;
}

/** Deletes old records of a scope in batches, in the order of their keys; resolves with their number. */
export async function prune(
  connection: SqliteConnection,
  scope: string,
  olderThanMs: number,
): Promise<number> {
  let deleted = 0;
  try {
    for (const table of recordTables) deleted += await pruneTable(connection, table, scope, olderThanMs);
    return deleted;
  } catch (error) {
    throw explain(error);
  }
}

async function pruneTable(
  connection: SqliteConnection,
  table: RecordTable,
  scope: string,
  olderThanMs: number,
): Promise<number> {
  let deleted = 0;
  for (let after: RecordPlace = table.columns.map(() => ''); ; ) {
    const batch = await writeInTurn(connection, 'run', { limitMs: BATCH_LIMIT_MS }, () =>
      pruneBatch(connection, table, { scope, after, olderThanMs }),
    );
    deleted += batch.deleted;
    if (batch.end === undefined) return deleted;
    after = batch.end;
    await new Promise<void>(inNextTurn);
  }
}

function pruneBatch(
  connection: SqliteConnection,
  table: RecordTable,
  { scope, after, olderThanMs }: { scope: string; after: RecordPlace; olderThanMs: number },
): Batch | typeof BUSY {
  return connection.write(() => {
    const end = connection.first(endOfBatch(table, scope, after))?.map(String);
    connection.run(deleteRecords(table, scope, { after, end, olderThanMs }));
    return { end, deleted: Number(connection.first(CHANGED_ROWS)?.[0]) };
  });
}
