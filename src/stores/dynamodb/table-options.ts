import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { checkOptions, invalidOption } from '../../receiver/checks/check-options.ts';
import { ConfigurationError } from '../../receiver/errors.ts';
import { propertyOf, show } from '../../receiver/values/foreign-values.ts';
import { readServerOptions, type ServerOptions } from '../kit/server-options.ts';
import type { DynamoClient } from './client.ts';

/** The client and the options of a store or of dead letters. */
export interface TableOptions extends ServerOptions {
  readonly client: DynamoDBClient;
  readonly table: string;
}

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html */
const TABLE_NAME = /^(arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:\d{12}:table\/)?[A-Za-z0-9_.-]{3,255}$/;

/**
 * Checks the arguments of a function of `posthorn/dynamodb`, whose operations have `defaultMs` by default;
 * throws {@link ConfigurationError}.
 */
export function readTableOptions(
  functionName: string,
  client: DynamoClient,
  options: { readonly table: string; readonly scope: string; readonly commandTimeoutMs?: number | undefined },
  defaultMs: number,
): TableOptions {
  if (!isClient(client)) {
    throw new ConfigurationError(
      `${functionName} takes a client of @aws-sdk/client-dynamodb: new DynamoDBClient({ region })`,
    );
  }
  const names = ['table', 'scope', 'commandTimeoutMs'];
  // First, because a misspelt name says more than a missing table.
  checkOptions(options, names, functionName);
  const { table } = options;
  if (typeof table !== 'string' || !TABLE_NAME.test(table)) {
    throw invalidOption(
      `table of ${functionName}`,
      'must be the name or the ARN of a table: 3 to 255 letters, digits, "_", "-" or "."; ' +
        `got ${show(table)}`,
    );
  }
  return { ...readServerOptions(functionName, options, defaultMs, names), client, table };
}

/** Clients of the other services have the same methods. */
function isClient(client: DynamoClient): client is DynamoDBClient {
  return (
    typeof propertyOf(client, 'send') === 'function' &&
    propertyOf(propertyOf(client, 'config'), 'serviceId') === 'DynamoDB'
  );
}
