import { randomUUID } from 'node:crypto';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { createDynamoStore } from 'posthorn/dynamodb';
import { storeConformance } from 'posthorn/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { keyCases } from '../kit/key-cases.ts';
import { expectLateClaimsRefused } from '../kit/late-claims.ts';
import { expectLikeMemoryStore } from '../kit/like-memory-store.ts';
import { StoreModel, storeCommands } from '../kit/model.ts';
import { useDynamo } from './fixture.ts';

const ALLOWANCE_MS = 10_000;
const HOUR_MS = 3_600_000;
const lease = { leaseMs: 20_000, retentionMs: HOUR_MS };

const realNow = Date.now;
afterEach(() => {
  Date.now = realNow;
});

const dynamo = useDynamo();
const openStore = (scope: string = randomUUID()) =>
  createDynamoStore(dynamo.client, { table: dynamo.table, scope, ...ampleTime });

// Side by side, because some wait until a lease is over for all clocks.
describe.concurrent('the store in DynamoDB', () => {
  for (const { name, run } of storeConformance(() => openStore())) test(name, run);
});

describe('the store in DynamoDB', () => {
  test.each(keyCases)('$name', async ({ check }) => {
    const scope = randomUUID();
    await check(() => openStore(scope));
  });

  test('answers like the memory store, whatever the operations', async () => {
    await expectLikeMemoryStore(openStore());
  });

  test('refuses a claim after its release, in whatever order they and another claim take effect', async () => {
    const scope = randomUUID();
    await expectLateClaimsRefused(openStore(scope), openStore(scope));
  });

  test('behaves as the reference model under any interleaving of its operations and of time', async () => {
    let time = realNow();
    Date.now = () => time;
    const advance = (ms: number) => {
      time += ms;
    };
    const options = { allowanceMs: ALLOWANCE_MS };
    const create = () => ({ model: new StoreModel(options), real: { store: openStore(), advance } });
    await fc.assert(
      fc.asyncProperty(storeCommands(options), (commands) => fc.asyncModelRun(create, commands)),
      { numRuns: 200 },
    );
  });

  test('of 20 claims on a released id, one succeeds, and the others see its lease', async () => {
    const store = openStore();
    const claims = (prefix: string) =>
      Promise.all(
        Array.from({ length: 20 }, (_, number) =>
          store.claim({ id: 'evt', token: prefix + number, ...lease }),
        ),
      );
    await store.claim({ id: 'evt', token: 't', ...lease });
    await store.release({ id: 'evt', token: 't', retentionMs: HOUR_MS, handled: ['book'] });
    const results = await claims('after-release-');
    const claimed = results.filter(({ state }) => state === 'claimed');
    expect(claimed).toMatchObject([{ attempt: 2, abandoned: 0, handled: ['book'] }]);
    expect(results.filter(({ state }) => state === 'busy')).toHaveLength(19);
    Date.now = () => realNow() + lease.leaseMs + ALLOWANCE_MS + 1;
    const later = (await claims('after-lease-')).filter(({ state }) => state === 'claimed');
    expect(later).toMatchObject([{ attempt: 3, abandoned: 1, handled: ['book'] }]);
  });

  test('the attributes of an expired id go when it is claimed anew, though DynamoDB has not deleted it', async () => {
    const scope = randomUUID();
    const store = openStore(scope);
    const request = { id: 'evt', token: 't', leaseMs: 1_000, retentionMs: 1_000 };
    await store.claim(request);
    await store.release({ ...request, handled: ['book'] });
    await dynamo.client.send(
      new PutItemCommand({
        TableName: dynamo.table,
        Item: { ...(await dynamo.items(scope))[0], stale: { S: 'of another version' } },
      }),
    );
    Date.now = () => realNow() + 1_000 + ALLOWANCE_MS;
    expect(await store.claim({ ...request, token: 'u' })).toEqual({
      state: 'claimed',
      attempt: 1,
      abandoned: 0,
      firstClaimedMsAgo: 0,
      spacedAttempts: 1,
      handled: [],
    });
    const [item = {}] = await dynamo.items(scope);
    expect(item.token).toEqual({ S: 'u' });
    expect([item.handled, item.stale]).toEqual([undefined, undefined]);
  });

  test('of a completed id, the key and the end of its retention stay, and DynamoDB deletes it later', async () => {
    const scope = randomUUID();
    const store = openStore(scope);
    await store.claim({ id: 'evt', token: 't', ...lease });
    const [claimed = {}] = await dynamo.items(scope);
    await store.complete({ id: 'evt', token: 't', retentionMs: HOUR_MS });
    const [item = {}] = await dynamo.items(scope);
    expect(Object.keys(item).sort()).toEqual(['expiresAt', 'pk', 'sk', 'ttl']);
    for (const { ttl, expiresAt } of [claimed, item]) {
      expect(Number.isInteger(Number(ttl?.N))).toBe(true);
      const laterMs = Number(ttl?.N) * 1_000 - Number(expiresAt?.N);
      expect(laterMs).toBeGreaterThan(ALLOWANCE_MS);
      expect(laterMs).toBeLessThan(2 * HOUR_MS);
      expect(Math.abs(Number(expiresAt?.N) - realNow() - HOUR_MS)).toBeLessThan(60_000);
    }
  });

  test('the health check of a receiver leaves nothing behind', async () => {
    const scope = randomUUID();
    const release = openStore(scope).release({ id: 'never', token: 't', retentionMs: 1, handled: [] });
    expect(await release).toEqual({ state: 'lost' });
    expect(await dynamo.items(scope)).toEqual([]);
  });

  test('two scopes in one table are apart', async () => {
    await openStore('one').complete({ id: 'evt', token: 't', retentionMs: HOUR_MS });
    expect(await openStore('two').claim({ id: 'evt', token: 't', ...lease })).toMatchObject({ attempt: 1 });
  });

  test('an item that is not of a store is named', async () => {
    const scope = randomUUID();
    const Item = { pk: { S: `${scope}#id#evt` }, sk: { S: 'id' }, token: { S: 'foreign' } };
    await dynamo.client.send(new PutItemCommand({ TableName: dynamo.table, Item }));
    const claim = openStore(scope).claim({ id: 'evt', token: 't', ...lease });
    await expect(claim).rejects.toThrow(`the item "${scope}#id#evt" has no number "expiresAt"`);
  });
});
