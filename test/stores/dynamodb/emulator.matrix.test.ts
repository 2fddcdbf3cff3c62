import {
  DeleteItemCommand,
  type DynamoDBClient,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from 'vitest';
import { useDynamo } from './fixture.ts';

describe('the emulator, like DynamoDB,', () => {
  const dynamo = useDynamo();
  const key = { pk: { S: 'emulator' }, sk: { S: 'item' } };
  const item = { ...key, color: { S: 'green' } };
  const condition = {
    TableName: dynamo.table,
    ConditionExpression: 'color = :color',
    ExpressionAttributeValues: { ':color': { S: 'red' } },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  } as const;

  test.each<[string, (client: DynamoDBClient) => Promise<unknown>]>([
    ['put', (client) => client.send(new PutItemCommand({ ...condition, Item: key }))],
    [
      'update',
      (client) =>
        client.send(new UpdateItemCommand({ ...condition, Key: key, UpdateExpression: 'remove color' })),
    ],
    ['delete', (client) => client.send(new DeleteItemCommand({ ...condition, Key: key }))],
  ])('returns the item of a refused %s', async (_name, send) => {
    await dynamo.client.send(new PutItemCommand({ TableName: dynamo.table, Item: item }));
    await expect(send(dynamo.client)).rejects.toMatchObject({
      name: 'ConditionalCheckFailedException',
      Item: item,
    });
  });
});
