import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import {
  ConditionalCheckFailedException,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { createDynamoDeadLetters, createDynamoStore } from 'posthorn/dynamodb';
import { afterEach, describe, expect, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { readAll } from '../../support/read-all.ts';
import { createLetter, deadLettersConformance, expectCounts } from '../kit/conformance.ts';
import { serverDeadLettersConformance } from '../kit/server-conformance.ts';
import { useDynamo } from './fixture.ts';
import { pass } from './proxy.ts';

const DAY_MS = 86_400_000;

const dynamo = useDynamo();
const { table } = dynamo;
afterEach(() => {
  dynamo.proxy.treat = () => pass;
});

const open = (scope: string) => createDynamoDeadLetters(dynamo.client, { table, scope, ...ampleTime });
const openByProxy = (scope: string) =>
  createDynamoDeadLetters(dynamo.openClient(), { table, scope, ...ampleTime });

describe('dead letters in DynamoDB', () => {
  for (const { name, check } of deadLettersConformance) test(name, () => check(open(randomUUID())));
  for (const { name, check } of serverDeadLettersConformance)
    test(name, () =>
      check((scope) => ({
        deadLetters: open(scope),
        store: createDynamoStore(dynamo.client, { table, scope, ...ampleTime }),
      })),
    );

  test('are counted up to a limit', async () => {
    const deadLetters = open(randomUUID());
    await expectCounts(deadLetters);
  });

  test('are not replaced by a client whose refusals do not bring the item: it is too old', async () => {
    const scope = randomUUID();
    await open(scope).put(createLetter({ id: '1' }));
    const client = dynamo.openClient();
    client.middlewareStack.add(
      (next) => (args) =>
        next(args).catch((error: unknown) => {
          if (error instanceof ConditionalCheckFailedException) error.Item = undefined;
          throw error;
        }),
    );
    await expect(
      createDynamoDeadLetters(client, { table, scope, ...ampleTime }).put(createLetter({ id: '1' })),
    ).rejects.toMatchObject({
      code: 'dead_letters_unavailable',
      message: expect.stringContaining('@aws-sdk/client-dynamodb 3.363.0 or later'),
    });
  });

  test('another process continues a list after a letter that was removed', async () => {
    const scope = randomUUID();
    for (const id of ['1', '2', '3', '4']) await open(scope).put(createLetter({ id }));
    await open(scope).remove('2');
    expect((await readAll(open(scope).list({ after: '2' }))).map(({ id }) => id)).toEqual(['3', '4']);
    const ttlOf2 = async () =>
      (await dynamo.items(`${scope}#dead-letters`)).find(({ sk }) => sk?.S === 'id#2')?.ttl?.N;
    expect((Number(await ttlOf2()) * 1_000 - Date.now()) / DAY_MS).toBeCloseTo(1, 1);
    // A letter that is parked again must not be deleted by it.
    await open(scope).put(createLetter({ id: '2' }));
    expect(await ttlOf2()).toBeUndefined();
  });

  test('one that was damaged by hand does not hide the others, and is replaced and removed', async () => {
    const scope = randomUUID();
    const ids = ['no version', 'a foreign version', 'no text', 'foreign text', 'whole'];
    for (const id of ids) await open(scope).put(createLetter({ id, parkedAt: 1 }));
    const damage = (
      id: string,
      UpdateExpression: string,
      values?: UpdateItemCommandInput['ExpressionAttributeValues'],
    ) =>
      dynamo.client.send(
        new UpdateItemCommand({
          TableName: table,
          Key: { pk: { S: `${scope}#dead-letters` }, sk: { S: `id#${id}` } },
          UpdateExpression,
          ExpressionAttributeValues: values,
        }),
      );
    const damageAll = async () => {
      await damage('no version', 'remove version, letter');
      await damage('a foreign version', 'set version = :v remove letter', { ':v': { N: '7' } });
      await damage('no text', 'set parts = :p, version = :v remove letter', {
        ':p': { S: 'x' },
        ':v': { S: 'z' },
      });
      await damage('foreign text', 'set letter = :l', { ':l': { B: Buffer.from('{}') } });
    };
    await damageAll();
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { id } of open(scope).list()) seen.push(id);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'dead_letter_unreadable' });
    expect(seen).toEqual(['whole']);
    const deadLetters = openByProxy(scope);
    const before = dynamo.proxy.requests;
    for (const id of ids) await deadLetters.put(createLetter({ id, parkedAt: 1 }));
    expect((await readAll(deadLetters.list())).map(({ id }) => id).sort()).toEqual(ids.sort());
    await damageAll();
    for (const id of ids) {
      expect(await deadLetters.remove(id)).toBe(true);
      expect(await deadLetters.remove(id)).toBe(false);
    }
    expect(await readAll(deadLetters.list())).toEqual([]);
    expect(dynamo.proxy.requests - before).toBeLessThan(60);
  });

  test('one that would fill the memory is unreadable', async () => {
    const scope = randomUUID();
    await open(scope).put(createLetter({ id: 'evt' }));
    const bomb = gzipSync(Buffer.alloc(256 * 1_048_576 + 1));
    expect(bomb.length).toBeLessThan(300_000);
    await dynamo.client.send(
      new UpdateItemCommand({
        TableName: table,
        Key: { pk: { S: `${scope}#dead-letters` }, sk: { S: 'id#evt' } },
        UpdateExpression: 'set letter = :letter',
        ExpressionAttributeValues: { ':letter': { B: bomb } },
      }),
    );
    await expect(open(scope).get('evt')).rejects.toMatchObject({ code: 'dead_letter_unreadable' });
  });
});
