import type { Store } from '../../../receiver/dedupe/store.ts';
import { limitOfServer } from '../../kit/durations.ts';
import { createServerStore } from '../../kit/server-store.ts';
import type { DynamoClient } from '../client.ts';
import { DynamoConnection } from '../connection.ts';
import { readTableOptions } from '../table-options.ts';
import { DynamoOperations } from './operations.ts';

/** Options of {@link createDynamoStore}. */
export interface DynamoStoreOptions {
  /**
   * The name or the ARN of the table: 3 to 255 letters, digits, `_`, `-` or `.`. Its keys are `pk` and `sk`,
   * its local index is `by-position`, and its attribute for the time to live is `ttl`.
   */
  readonly table: string;
  /**
   * Names the application and its environment, for example `billing-production`: 1 to 64 letters, digits,
   * `.`, `_` or `-`. It is part of every key; receivers with the same scope share their ids.
   */
  readonly scope: string;
  /**
   * The time after which an operation counts as failed, in milliseconds; 2,000 by default. That
   * includes the retries of the SDK.
   */
  readonly commandTimeoutMs?: number | undefined;
}

/**
 * Keeps event ids in a table of DynamoDB, which all processes and functions share. A first claim, a renewal,
 * a completion and a release are one write each; any other claim is at most one write more. An operation that
 * fails in a way that passes is tried again until its time is over. It rejects with UnavailableError
 * (`store_unavailable`) if DynamoDB refuses it or does not answer; the message says what to do.
 *
 * DynamoDB has no clock that an operation could ask, so times are those of the process. A lease or a
 * retention counts as over only ten seconds later, so clocks may be wrong by five seconds. A claim that
 * arrives after its release is refused for the length of its lease; one that arrives later still holds the id
 * until its lease ends.
 *
 * @throws ConfigurationError if the client is not one of DynamoDB, and for a wrong or missing option.
 *
 * @example
 * ```ts
 * import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
 * import { createReceiver } from 'posthorn';
 * import { createDynamoStore } from 'posthorn/dynamodb';
 *
 * const client = new DynamoDBClient({ region: 'eu-central-1' });
 * const store = createDynamoStore(client, { table: 'posthorn', scope: 'billing-production' });
 * const receiver = createReceiver({ signingKey: process.env.SIGNING_KEY, store });
 * ```
 */
export function createDynamoStore(client: DynamoClient, options: DynamoStoreOptions): Store {
  const { commandTimeoutMs, ...place } = readTableOptions('createDynamoStore', client, options, 2_000);
  const connection = new DynamoConnection(place.client, place.table, limitOfServer(commandTimeoutMs));
  const operations = new DynamoOperations(connection, place.scope);
  return createServerStore({
    name: 'DynamoDB',
    commandTimeoutMs,
    run: (operation) => operations.run(operation),
  });
}
