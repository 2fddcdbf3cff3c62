import { randomUUID } from 'node:crypto';
import { CreateTableCommand, type CreateTableCommandInput, ScanCommand } from '@aws-sdk/client-dynamodb';
import { createDynamoDeadLetters, createDynamoStore } from 'posthorn/dynamodb';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { openEndpoint } from '../../support/open-endpoint.ts';
import { createLetter } from '../kit/conformance.ts';
import { useDynamo } from './fixture.ts';
import { tableDefinition } from './table.ts';

const dynamo = useDynamo();

/** After all retries of the service: a delivery that comes now is the last attempt. */
const LAST_ATTEMPT_AGE_MS = 25 * 60_000;

type Definition = Omit<CreateTableCommandInput, 'TableName'>;
const { TableName: _, ...right } = tableDefinition('');
const attributes = (...names: string[]): Definition['AttributeDefinitions'] =>
  names.map((AttributeName) => ({ AttributeName, AttributeType: 'S' }));
const hash = (AttributeName: string) => ({ AttributeName, KeyType: 'HASH' }) as const;
const range = (AttributeName: string) => ({ AttributeName, KeyType: 'RANGE' }) as const;
const index = (IndexName: string, attribute: string) => ({
  IndexName,
  KeySchema: [hash('pk'), range(attribute)],
  Projection: { ProjectionType: 'KEYS_ONLY' } as const,
});

/** Tables with another key, which the store needs as well as the letters. */
const otherKeys: Readonly<Record<string, Definition>> = {
  'pk alone as its key': { AttributeDefinitions: attributes('pk'), KeySchema: [hash('pk')] },
  'another sort key': {
    AttributeDefinitions: attributes('pk', 'id', 'position'),
    KeySchema: [hash('pk'), range('id')],
    LocalSecondaryIndexes: [index('by-position', 'position')],
  },
  'its place in the order as the sort key': {
    AttributeDefinitions: attributes('pk', 'position'),
    KeySchema: [hash('pk'), range('position')],
  },
};

/** Tables that only letters cannot use. */
const otherIndexes: Readonly<Record<string, Definition>> = {
  'pk and sk the other way round': {
    AttributeDefinitions: attributes('pk', 'sk'),
    KeySchema: [hash('sk'), range('pk')],
  },
  'no index': { AttributeDefinitions: attributes('pk', 'sk'), KeySchema: [hash('pk'), range('sk')] },
  'an index of another name': { ...right, LocalSecondaryIndexes: [index('position', 'position')] },
  'an index of another attribute': {
    ...right,
    AttributeDefinitions: attributes('pk', 'sk', 'parkedAt'),
    LocalSecondaryIndexes: [index('by-position', 'parkedAt')],
  },
  'a global index': {
    AttributeDefinitions: attributes('pk', 'sk', 'position'),
    KeySchema: [hash('pk'), range('sk')],
    GlobalSecondaryIndexes: [index('by-position', 'position')],
  },
};

async function createTable(definition: Definition): Promise<string> {
  const table = `wrong-${randomUUID()}`;
  const command = { BillingMode: 'PAY_PER_REQUEST', ...definition, TableName: table } as const;
  await dynamo.client.send(new CreateTableCommand(command));
  return table;
}

function openIn(table: string) {
  const place = { table, scope: 'wrong', ...ampleTime };
  return {
    store: createDynamoStore(dynamo.client, place),
    deadLetters: createDynamoDeadLetters(dynamo.client, place),
  };
}

async function countItems(TableName: string): Promise<number | undefined> {
  return (await dynamo.client.send(new ScanCommand({ TableName, ConsistentRead: true }))).Count;
}

const lastAttempt = () => ({
  ...createEvent('transfer.failed'),
  created_at: new Date(Date.now() - LAST_ATTEMPT_AGE_MS).toISOString(),
});

const ADVICE = /the table needs the keys "pk" and "sk" and the local index "by-position"/;

describe.each(Object.entries(otherKeys))('a table with %s', (_name, definition) => {
  test('takes neither ids nor letters, and health says so', async () => {
    const table = await createTable(definition);
    const { send, receiver, reports } = await openEndpoint(openIn(table), (created) => {
      created.on('*', () => {});
    });
    for (let count = 0; count < 3; count += 1)
      expect(await send(lastAttempt())).toMatchObject({ status: 503 });
    expect(reports.all.at(-1)?.error?.message).toMatch(ADVICE);
    expect(await countItems(table)).toBe(0);
    const { store } = await receiver.health();
    expect(store).toMatchObject({ ok: false, error: { message: expect.stringMatching(ADVICE) } });
  });

  test('takes no letter of a receiver that has another store', async () => {
    const table = await createTable(definition);
    const { deadLetters } = openIn(table);
    const { send } = await openEndpoint({ deadLetters }, (created) => {
      created.on('*', () => {
        throw new Error('the handler failed');
      });
    });
    for (let count = 0; count < 3; count += 1)
      expect(await send(lastAttempt())).toMatchObject({ status: 500 });
    await expect(deadLetters.put(createLetter({ id: 'evt' }))).rejects.toMatchObject({
      code: 'dead_letters_unavailable',
      message: expect.stringMatching(ADVICE),
    });
    expect(await countItems(table)).toBe(0);
  });
});

describe.each(Object.entries(otherIndexes))('a table with %s', (_name, definition) => {
  test('takes ids but no letters, and health says so', async () => {
    const table = await createTable(definition);
    const { send, receiver } = await openEndpoint(openIn(table), (created) => {
      created.on('*', ({ type }) => {
        if (type === 'transfer.failed') throw new Error('the handler failed');
      });
    });
    expect(await send(createEvent('transfer.succeeded'))).toMatchObject({ status: 200 });
    for (let count = 0; count < 3; count += 1)
      expect(await send(lastAttempt())).toMatchObject({ status: 500 });
    const { store, deadLetters } = await receiver.health();
    expect(store.ok).toBe(true);
    const message = expect.stringMatching(ADVICE);
    expect(deadLetters).toMatchObject({ ok: false, waiting: undefined, error: { message } });
    await expect(receiver.deadLetters?.put(createLetter({ id: 'evt' }))).rejects.toMatchObject({ message });
  });
});
