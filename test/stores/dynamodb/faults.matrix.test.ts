import { randomBytes, randomUUID } from 'node:crypto';
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { createDynamoDeadLetters, createDynamoStore } from 'posthorn/dynamodb';
import { afterEach, describe, expect, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { readAll } from '../../support/read-all.ts';
import { until } from '../../support/until.ts';
import { createLetter } from '../kit/conformance.ts';
import { useDynamo } from './fixture.ts';
import { faults, pass, refuse, silent, type Treatment } from './proxy.ts';

const HOUR_MS = 3_600_000;
const lease = { leaseMs: 600_000, retentionMs: HOUR_MS };
/** Text that is split though it is compressed. */
const LONG = randomBytes(500_000).toString('base64');
const random = Math.random;

const dynamo = useDynamo();
const { table } = dynamo;
afterEach(() => {
  dynamo.proxy.treat = () => pass;
  Math.random = random;
});

type Limit = { readonly commandTimeoutMs?: number };
const open = (config?: DynamoDBClientConfig, limit: Limit = ampleTime) =>
  createDynamoStore(dynamo.openClient(config), { table, scope: randomUUID(), ...limit });
const openLetters = (config?: DynamoDBClientConfig, limit: Limit = ampleTime) =>
  createDynamoDeadLetters(dynamo.openClient(config), { table, scope: randomUUID(), ...limit });

/** Every second request fails. */
function treatEverySecond(fault: Treatment): void {
  // After throttling the SDK waits for up to a second, so by chance a claim of two writes takes too long.
  Math.random = () => 0.3;
  let isFaulty = false;
  dynamo.proxy.treat = () => {
    isFaulty = !isFaulty;
    return isFaulty ? fault : pass;
  };
}

/** Without its own retries the SDK leaves them to posthorn. */
const clients: readonly [string, DynamoDBClientConfig][] = [
  ['a client with the defaults of the SDK', {}],
  ['a client that does not try again', { maxAttempts: 1 }],
];

describe.each(clients)('with %s', (_name, config) => {
  test.each(Object.entries(faults))(
    '%s: each operation is tried again, and has its effect once',
    async (_fault, fault) => {
      treatEverySecond(fault);
      const store = open(config);
      const request = { id: 'evt', token: 't', ...lease };
      expect(await store.claim(request)).toMatchObject({ state: 'claimed', attempt: 1, abandoned: 0 });
      expect(await store.renew(request)).toEqual({ state: 'held' });
      expect(await store.claim({ ...request, token: 'u' })).toMatchObject({ state: 'busy' });
      expect(await store.release({ ...request, handled: ['book'] })).toEqual({ state: 'released' });
      const again = { ...request, token: 'u' };
      const claimed = { state: 'claimed', attempt: 2, abandoned: 0, handled: ['book'] };
      expect(await store.claim(again)).toMatchObject(claimed);
      expect(await store.renew({ ...request, id: 'absent' })).toEqual({ state: 'held' });
      expect(await store.release({ ...request, id: 'absent', handled: [] })).toEqual({ state: 'released' });
      expect(await store.claim({ ...again, id: 'absent' })).toMatchObject({ attempt: 2 });
      expect(await store.complete(again)).toEqual({ state: 'completed' });
      expect(await store.claim(request)).toEqual({ state: 'completed' });
    },
  );

  test.each(Object.entries(faults))('%s: letters are stored, read and removed', async (_fault, fault) => {
    treatEverySecond(fault);
    const deadLetters = openLetters(config);
    for (const message of ['short', LONG, 'short again']) {
      await deadLetters.put(createLetter({ id: 'evt', message, parkedAt: 1 }));
      expect((await deadLetters.get('evt'))?.message === message).toBe(true);
    }
    await deadLetters.put(createLetter({ id: 'long', message: LONG, parkedAt: 2 }));
    expect(await deadLetters.count?.({ limit: 5 })).toBe(2);
    expect((await readAll(deadLetters.list())).map(({ id }) => id)).toEqual(['evt', 'long']);
    expect(await deadLetters.remove('long')).toBe(true);
    expect(await deadLetters.remove('long')).toBe(false);
    expect(await deadLetters.get('long')).toBeUndefined();
    expect((await readAll(deadLetters.list({ after: 'long' }))).map(({ id }) => id)).toEqual([]);
  });
});

test.each([true, false])(
  'no answer at all, written: %s: the store is unavailable in time',
  async (wasWritten) => {
    const store = open({}, {});
    dynamo.proxy.treat = () => silent(wasWritten);
    const request = { id: 'evt', token: 't', ...lease };
    const operations = [
      store.claim(request),
      store.renew(request),
      store.complete(request),
      store.release({ ...request, handled: [] }),
    ];
    for (const operation of operations) {
      await expect(operation).rejects.toMatchObject({
        code: 'store_unavailable',
        message: expect.stringContaining('DynamoDB did not answer in 1900 ms'),
      });
    }
  },
);

test('letters without an answer are unavailable in five seconds', async () => {
  const deadLetters = openLetters({}, {});
  dynamo.proxy.treat = () => silent(false);
  const operations = [
    deadLetters.put(createLetter({ message: LONG })),
    deadLetters.get('evt'),
    deadLetters.remove('evt'),
    readAll(deadLetters.list()),
  ];
  for (const operation of operations)
    await expect(operation).rejects.toMatchObject({
      code: 'dead_letters_unavailable',
      message: expect.stringContaining('DynamoDB did not answer in 5000 ms'),
    });
});

test('a failure that does not pass in time is told, and nothing is sent afterwards', async () => {
  // The SDK then waits for nearly two seconds between its tries, and is not done with them in time.
  Math.random = () => 0.99;
  const scopes = { given: randomUUID(), longer: randomUUID() };
  const sent: string[] = [];
  dynamo.proxy.treat = ({ parameters }) => {
    sent.push(...Object.values(scopes).filter((scope) => parameters.includes(scope)));
    return refuse(
      400,
      'ProvisionedThroughputExceededException',
      'The level of configured provisioned throughput',
    );
  };
  const claim = (scope: string, commandTimeoutMs: number) =>
    createDynamoStore(dynamo.openClient(), { table, scope, commandTimeoutMs }).claim({
      id: 'evt',
      token: 't',
      ...lease,
    });
  const refused = /too little capacity.*switch the table to on-demand.*The level of configured/;
  // It is tried again long after the other one has ended: what that one still sent would come before its end.
  const longer = expect(claim(scopes.longer, 8_000)).rejects.toThrow(refused);
  await expect(claim(scopes.given, 2_000)).rejects.toThrow(refused);
  const count = () => sent.filter((scope) => scope === scopes.given).length;
  const before = count();
  expect(before).toBeGreaterThan(1);
  await longer;
  expect(count()).toBe(before);
});

test('a claim that arrives after its caller has given up is freed by the release that follows it', async () => {
  const scope = randomUUID();
  const store = createDynamoStore(dynamo.openClient(), { table, scope, ...ampleTime });
  const impatient = createDynamoStore(dynamo.openClient(), { table, scope, commandTimeoutMs: 500 });
  const request = { id: 'evt', token: 't', ...lease };
  let arrive = () => {};
  const arrival = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  let hasArrived = false;
  dynamo.proxy.treat =
    () =>
    async ({ run }) => {
      await arrival;
      await run();
      hasArrived = true;
    };
  await expect(impatient.claim(request)).rejects.toMatchObject({ code: 'store_unavailable' });
  dynamo.proxy.treat = () => pass;
  arrive();
  await until('the claim arrives', () => hasArrived);
  expect(await store.claim({ ...request, token: 'u' })).toMatchObject({ state: 'busy' });
  expect(await store.release({ ...request, handled: [] })).toEqual({ state: 'released' });
  expect(await store.claim({ ...request, token: 'u' })).toMatchObject({ state: 'claimed', attempt: 2 });
});

test('a claim reads anew if another process writes between its two writes', async () => {
  const store = open();
  const request = { id: 'evt', token: 't', ...lease };
  await store.claim(request);
  await store.release({ ...request, handled: ['book'] });
  let count = 0;
  dynamo.proxy.treat = () => {
    count += 1;
    return count !== 2
      ? pass
      : async (exchange) => {
          await store.claim({ ...request, token: 'faster' });
          await store.release({ ...request, token: 'faster', handled: ['book', 'mail'] });
          await pass(exchange);
        };
  };
  const claimed = await store.claim({ ...request, token: 'u' });
  expect(claimed).toMatchObject({ state: 'claimed', attempt: 3, abandoned: 0, handled: ['book', 'mail'] });
});

test('a refusal that does not bring the item is told', async () => {
  const store = open();
  dynamo.proxy.treat = () => refuse(400, 'ConditionalCheckFailedException');
  await expect(store.claim({ id: 'evt', token: 't', ...lease })).rejects.toThrow(
    /did not bring the item.*3\.363\.0 or later/,
  );
});

test.each([
  ['AccessDeniedException', /the credentials of the client need the rights dynamodb:GetItem/],
  ['ValidationException', /DynamoDB: the proxy says so/],
  ['ItemCollectionSizeLimitExceededException', /10 GB/],
  ['UnrecognizedClientException', /DynamoDB: the proxy says so/],
])('%s is told at once, with what to do', async (type, expected) => {
  const store = open();
  dynamo.proxy.treat = () => refuse(400, `com.amazon.coral.service#${type}`);
  const { requests } = dynamo.proxy;
  await expect(store.claim({ id: 'evt', token: 't', ...lease })).rejects.toThrow(expected);
  expect(dynamo.proxy.requests).toBe(requests + 1);
});

test.each([
  'The provided key element does not match the schema',
  'One or more parameter values were invalid: Missing the key sk in the item',
  'The table does not have the specified index: by-position',
])('the table that is needed is told: %s', async (message) => {
  const store = open();
  dynamo.proxy.treat = () => refuse(400, 'com.amazon.coral.validate#ValidationException', message);
  await expect(store.claim({ id: 'evt', token: 't', ...lease })).rejects.toThrow(
    /needs the keys "pk" and "sk" and the local index "by-position"/,
  );
});

test('an item that is too large is not taken for a wrong table', async () => {
  const store = open();
  const request = { id: 'evt', token: 't', ...lease };
  await store.claim(request);
  const release = store.release({ ...request, handled: ['y'.repeat(500_000)] });
  await expect(release).rejects.toThrow(/: DynamoDB: Item size to update has exceeded/);
});

test('a renewal that arrives once more, late, does not shorten the lease', async () => {
  const store = open();
  const request = { id: 'evt', token: 't', ...lease };
  await store.claim(request);
  let again: (() => Promise<unknown>) | undefined;
  dynamo.proxy.treat = () => async (exchange) => {
    again ??= exchange.run;
    await pass(exchange);
  };
  expect(await store.renew(request)).toEqual({ state: 'held' });
  const renewedAt = Date.now();
  await until('the clock has gone on', () => Date.now() > renewedAt);
  expect(await store.renew({ ...request, leaseMs: HOUR_MS })).toEqual({ state: 'held' });
  await again?.();
  const busy = await store.claim({ ...request, token: 'u' });
  expect(busy).toMatchObject({ state: 'busy', msLeft: expect.any(Number) });
  expect(Number(Reflect.get(busy, 'msLeft'))).toBeGreaterThan(lease.leaseMs + 60_000);
  // Its owner would not learn of a refusal that is none.
  expect(await store.renew(request)).toEqual({ state: 'held' });
});

test('a table that is missing is told', async () => {
  const missing = createDynamoStore(dynamo.client, { table: 'missing', scope: 'faults' });
  await expect(missing.claim({ id: 'evt', token: 't', ...lease })).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringMatching(/the table does not exist in this account and region/),
  });
  const letters = createDynamoDeadLetters(dynamo.client, { table: 'missing', scope: 'faults' });
  await expect(letters.put(createLetter())).rejects.toMatchObject({
    code: 'dead_letters_unavailable',
    message: expect.stringMatching(/the table does not exist/),
  });
});
