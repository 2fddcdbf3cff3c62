import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ConfigurationError } from '../../receiver/errors.ts';
import { checkOptions, invalidOption, readDuration, readScope } from '../../receiver/values/check-options.ts';
import { propertyOf, show } from '../../receiver/values/foreign-values.ts';
import type { DynamoClient } from './client.ts';

/** Where a store or dead letters are, the client that reaches them, and the time limit of an operation. */
export interface Place {
  readonly client: DynamoDBClient;
  readonly table: string;
  readonly scope: string;
  readonly commandTimeoutMs: number;
}

/** The options of a store or of dead letters. */
interface PlaceOptions {
  readonly table: string;
  readonly scope: string;
  readonly commandTimeoutMs?: number;
}

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html */
const TABLE_NAME = /^(arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:\d{12}:table\/)?[A-Za-z0-9_.-]{3,255}$/;

/**
 * Checks the arguments of a function of `posthorn/dynamodb`, whose operations have `defaultMs` by default;
 * throws {@link ConfigurationError}.
 */
export function readPlace(
  functionName: string,
  client: DynamoClient,
  options: PlaceOptions,
  defaultMs: number,
): Place {
  if (!isClient(client)) {
    throw new ConfigurationError(
      `${functionName} takes a client of @aws-sdk/client-dynamodb: new DynamoDBClient({ region })`,
    );
  }
  checkOptions(options, ['table', 'scope', 'commandTimeoutMs'], functionName);
  const { table, commandTimeoutMs = defaultMs } = options;
  if (typeof table !== 'string' || !TABLE_NAME.test(table)) {
    throw invalidOption(
      `table of ${functionName}`,
      'must be the name or the ARN of a table: 3 to 255 letters, digits, "_", "-" or "."; ' +
        `got ${show(table)}`,
    );
  }
  readDuration('commandTimeoutMs', commandTimeoutMs);
  return { client, table, scope: readScope(functionName, options.scope), commandTimeoutMs };
}

/** Clients of the other services have the same methods. */
function isClient(client: DynamoClient): client is DynamoDBClient {
  return (
    typeof propertyOf(client, 'send') === 'function' &&
    propertyOf(propertyOf(client, 'config'), 'serviceId') === 'DynamoDB'
  );
}
