import type { DeadLetters } from '../../../receiver/dead-letters/dead-letters.ts';
import { createServerDeadLetters } from '../../kit/server-dead-letters.ts';
import type { DynamoClient } from '../client.ts';
import { DynamoConnection } from '../connection.ts';
import { readTableOptions } from '../table-options.ts';
import { DynamoLetterOperations } from './operations.ts';

/** Options of {@link createDynamoDeadLetters}. */
export interface DynamoDeadLettersOptions {
  /**
   * The name or the ARN of the table, which may be that of the store. A name has 3 to 255 letters, digits,
   * `_`, `-` or `.`.
   */
  readonly table: string;
  /**
   * Names the application and its environment: 1 to 64 letters, digits, `.`, `_` or `-`.
   * The store may have the same scope.
   */
  readonly scope: string;
  /**
   * The time after which an operation counts as failed, in milliseconds; 5,000 by default. That
   * includes the retries of the SDK.
   */
  readonly commandTimeoutMs?: number | undefined;
}

/**
 * Keeps dead letters in a table of DynamoDB. They do not expire. One that is too long for an item is split,
 * and is there whole or not at all. `list` can continue `after` one that was removed within the last day.
 * Operations reject with DeadLetterError.
 *
 * @throws ConfigurationError if the client is not one of DynamoDB, and for a wrong or missing option.
 *
 * @example
 * ```ts
 * import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
 * import { createReceiver } from 'posthorn';
 * import { createDynamoDeadLetters } from 'posthorn/dynamodb';
 *
 * const client = new DynamoDBClient({ region: 'eu-central-1' });
 * const place = { table: 'posthorn', scope: 'billing-production' };
 * const deadLetters = createDynamoDeadLetters(client, place);
 * const receiver = createReceiver({ signingKey: process.env.SIGNING_KEY, deadLetters });
 * ```
 */
export function createDynamoDeadLetters(
  client: DynamoClient,
  options: DynamoDeadLettersOptions,
): DeadLetters {
  const { commandTimeoutMs, ...place } = readTableOptions('createDynamoDeadLetters', client, options, 5_000);
  const connection = new DynamoConnection(place.client, place.table, commandTimeoutMs);
  const operations = new DynamoLetterOperations(connection, place.scope);
  return createServerDeadLetters('DynamoDB', place.scope, operations);
}
