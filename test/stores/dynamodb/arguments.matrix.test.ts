import { DynamoDB, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createDynamoDeadLetters, createDynamoStore } from 'posthorn/dynamodb';
import { describe, expect, test } from 'vitest';

const client = new DynamoDBClient({ region: 'eu-central-1' });
const options = { table: 'posthorn', scope: 'arguments-test' };

describe.each([
  ['createDynamoStore', createDynamoStore],
  ['createDynamoDeadLetters', createDynamoDeadLetters],
])('%s', (name, create) => {
  const call = (...args: unknown[]) => Reflect.apply(create, undefined, args);

  test.each([undefined, null, {}, 'client', { send: () => {}, config: { serviceId: 'S3' } }])(
    'refuses %o as a client',
    (wrong) => {
      expect(() => call(wrong, options)).toThrow(
        `${name} takes a client of @aws-sdk/client-dynamodb: new DynamoDBClient({ region })`,
      );
    },
  );

  test.each([undefined, '', 'ab', 'x'.repeat(256), 'a table', 'arn:aws:s3:::bucket', 7])(
    'refuses %o as a table',
    (table) => {
      expect(() => call(client, { ...options, table })).toThrow(
        expect.objectContaining({
          code: 'configuration_invalid',
          message: expect.stringMatching(
            new RegExp(`^table of ${name} must be the name or the ARN of a table`),
          ),
        }),
      );
    },
  );

  test('refuses a wrong scope, an unknown option, and no options', () => {
    expect(() => call(client, { table: 'posthorn' })).toThrow(/scope of create/);
    expect(() => call(client, { ...options, scope: 'a#b' })).toThrow(/scope of create/);
    expect(() => call(client, { ...options, tableName: 'x' })).toThrow(/"tableName" is not an option/);
    expect(() => call(client)).toThrow(/takes an object of options/);
  });

  test('takes either class of client, and an ARN', () => {
    const table = 'arn:aws:dynamodb:eu-central-1:123456789012:table/posthorn';
    expect(() => create(client, { ...options, table })).not.toThrow();
    expect(() => create(new DynamoDB({ region: 'eu-central-1' }), options)).not.toThrow();
  });
});
