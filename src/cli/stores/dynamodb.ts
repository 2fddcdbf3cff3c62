import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import { usageError } from '../failure.ts';
import { loadPeer } from './load-peer.ts';
import type { StorePart } from './store-part.ts';

/** The region and the credentials are those that the SDK finds in the environment. */
export const dynamoPart: StorePart = {
  withDeadLetters: async (table, { scope }, use) => {
    const { DynamoDBClient } = await loadPeer({
      '@aws-sdk/client-dynamodb': () => import('@aws-sdk/client-dynamodb'),
    });
    // Later than that of the SDK, which it needs.
    const { createDynamoDeadLetters } = await import('../../stores/dynamodb/dead-letters/dead-letters.ts');
    const client = new DynamoDBClient({});
    try {
      const deadLetters = createDynamoDeadLetters(client, { table, scope });
      await checkRegion(client);
      await use(deadLetters);
    } finally {
      client.destroy();
    }
  },
};

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
