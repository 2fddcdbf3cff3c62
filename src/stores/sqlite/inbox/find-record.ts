import { messageOf } from '../../../receiver/values/foreign-values.ts';
import { InboxError } from '../../kit/inbox/inbox-error.ts';
import type { RecordKey } from '../../kit/inbox/once.ts';
import type { SqliteConnection } from '../connection.ts';
import { explain } from '../errors.ts';
import { retryWhileBusy } from '../retry-while-busy.ts';
import { findRecord } from './statements.ts';

const LIMIT_MS = 5_000;

/** Resolves with true if the record is there. Rejects with {@link InboxError}. */
export async function hasRecord(connection: SqliteConnection, key: RecordKey): Promise<boolean> {
  try {
    return await retryWhileBusy(LIMIT_MS, () =>
      connection.read(() => connection.first(findRecord(key)) !== undefined),
    );
  } catch (error) {
    const cause = explain(error);
    const message = `the inbox could not look for the record of ${JSON.stringify(key.handler)}: ${messageOf(cause)}`;
    throw new InboxError('inbox_unavailable', message, { cause });
  }
}
