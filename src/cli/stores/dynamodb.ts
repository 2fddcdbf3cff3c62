import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DeadLetters } from '../receiver/dead-letters/dead-letters.ts';
import { messageOf } from '../receiver/values/foreign-values.ts';
import { CommandError, codeOf, usageError } from './failure.ts';
import { dynamoClientVersions } from './manifest.ts';

/**
 * Opens the letters in a table for as long as `use` takes. The region and the credentials are what the SDK
 * finds in the environment.
 */
export async function withDynamoTable(
  table: string,
  scope: string,
  use: (deadLetters: DeadLetters) => Promise<void>,
): Promise<void> {
  const { DynamoDBClient } = await loadSdk();
  // Later than that of the SDK, which it needs.
  const { createDynamoDeadLetters } = await import('../stores/dynamodb/dead-letters/dead-letters.ts');
  const client = new DynamoDBClient({});
  try {
    const deadLetters = createDynamoDeadLetters(client, { table, scope });
    await checkRegion(client);
    await use(deadLetters);
  } finally {
    client.destroy();
  }
}

/** Without it every request would fail, as if DynamoDB were away. */
async function checkRegion(client: DynamoDBClient): Promise<void> {
  try {
    await client.config.region();
  } catch (cause) {
    throw usageError(
      `the region of the table is missing: set AWS_REGION, or an AWS_PROFILE that has one: ${messageOf(cause)}`,
    );
  }
}

/** Loads the SDK, which is installed only where it is used, or says how to install it. */
async function loadSdk(): Promise<typeof import('@aws-sdk/client-dynamodb')> {
  try {
    return await import('@aws-sdk/client-dynamodb');
  } catch (cause) {
    if (codeOf(cause) !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new CommandError(
      'package_missing',
      'this needs the package @aws-sdk/client-dynamodb, which is not installed: ' +
        `npm install "@aws-sdk/client-dynamodb@${dynamoClientVersions}"`,
      { cause },
    );
  }
}
