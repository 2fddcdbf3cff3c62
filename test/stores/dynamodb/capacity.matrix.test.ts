import { randomBytes, randomUUID } from 'node:crypto';
import type { ReturnConsumedCapacity } from '@aws-sdk/client-dynamodb';
import type { EventData } from 'posthorn';
import { createDynamoDeadLetters, createDynamoStore } from 'posthorn/dynamodb';
import { createEvent } from 'posthorn/testing';
import { afterAll, expect, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { openDirectly } from '../../support/open-endpoint.ts';
import { readAll } from '../../support/read-all.ts';
import { until } from '../../support/until.ts';
import { createLetter } from '../kit/conformance.ts';
import { useDynamo } from './fixture.ts';

/** What one operation of posthorn costs. */
interface Cost {
  /** Requests to DynamoDB. */
  readonly requests: number;
  /** Those that were refused. The emulator does not say what they consume: a unit each, below 1 KB. */
  readonly refused: number;
  /** Capacity units, as the emulator reports them. */
  readonly units: number;
}

const HOUR_MS = 3_600_000;
const dynamo = useDynamo();
const { table } = dynamo;

const measured: Record<string, Cost> = {};
afterAll(() => {
  process.stdout.write(`what DynamoDB charges: ${JSON.stringify(measured, undefined, 2)}\n`);
});

/** A client whose commands are counted. */
function openMeter() {
  let cost: Cost = { requests: 0, refused: 0, units: 0 };
  let underWay = 0;
  const client = dynamo.openClient();
  client.middlewareStack.add(
    (next) => async (parameters) => {
      const ReturnConsumedCapacity: ReturnConsumedCapacity = 'TOTAL';
      Object.assign(parameters.input, { ReturnConsumedCapacity });
      underWay += 1;
      try {
        const result = await next(parameters);
        const units = Number(
          Reflect.get(Object(Reflect.get(result.output, 'ConsumedCapacity')), 'CapacityUnits'),
        );
        cost = { ...cost, requests: cost.requests + 1, units: cost.units + units };
        return result;
      } catch (error) {
        cost = { ...cost, requests: cost.requests + 1, refused: cost.refused + 1 };
        throw error;
      } finally {
        underWay -= 1;
      }
    },
    { step: 'initialize' },
  );
  const measure = async (name: string, work: () => unknown): Promise<Cost> => {
    cost = { requests: 0, refused: 0, units: 0 };
    await work();
    measured[name] = cost;
    return cost;
  };
  return { client, measure, isQuiet: () => underWay === 0 };
}

test('operations of the store cost one write unit each, and a claim on a known id one more', async () => {
  const { client, measure } = openMeter();
  const store = createDynamoStore(client, { table, scope: randomUUID(), ...ampleTime });
  const request = { id: 'evt', token: 't', leaseMs: 20_000, retentionMs: HOUR_MS };
  const again = { ...request, token: 'u' };
  const written = { requests: 1, refused: 0, units: 1 };
  const refused = { requests: 1, refused: 1, units: 0 };
  expect(await measure('a first claim', () => store.claim(request))).toEqual(written);
  expect(await measure('a renewal', () => store.renew(request))).toEqual(written);
  expect(await measure('a claim of a running event', () => store.claim(again))).toEqual(refused);
  const handled = ['book', 'mail'];
  expect(await measure('a release', () => store.release({ ...request, handled }))).toEqual(written);
  const second = { requests: 2, refused: 1, units: 1 };
  expect(await measure('a claim after a release', () => store.claim(again))).toEqual(second);
  const looked = await measure('a look', () => store.peek?.(request));
  expect(looked).toEqual({ requests: 1, refused: 0, units: 1 });
  const refusing = { ...request, handled: [], refuseClaimsMs: 20_000 };
  expect(await measure('a release that refuses claims', () => store.release(refusing))).toEqual(second);
  const absent = { ...refusing, id: 'refused' };
  expect(await measure('the same of an absent id', () => store.release(absent))).toEqual(written);
  expect(await measure('a completion', () => store.complete(again))).toEqual(written);
  expect(await measure('a claim of a completed event', () => store.claim(request))).toEqual(refused);
  const unknown = { ...request, id: 'never', handled: [] };
  expect(await measure('a health check', () => store.release(unknown))).toEqual(refused);
});

test('a concurrency key costs two write units for each event, and one more while its item is there', async () => {
  const { client, measure, isQuiet } = openMeter();
  const scope = randomUUID();
  const store = createDynamoStore(client, { table, scope, ...ampleTime });
  const keyed = { name: 'book', concurrencyKey: ({ data }: { data: EventData }) => String(data.id) };
  const { send } = openDirectly({ store }, (receiver) => receiver.on('*', () => {}, keyed));
  const id = 'tr_0123456789abcdef0123456789abc';
  const sendAndRelease = async () => {
    await send(createEvent('transfer.created', { id }));
    await until('the key is released', async () => {
      const [item] = await dynamo.items(`${scope}#id#handled:key:`);
      return isQuiet() && item !== undefined && item.leaseEndsAt === undefined;
    });
  };
  const first = await measure('an event with a key that is new', sendAndRelease);
  expect(first).toEqual({ requests: 4, refused: 0, units: 4 });
  const next = await measure('an event with a key that was released', sendAndRelease);
  expect(next).toEqual({ requests: 5, refused: 1, units: 4 });
  const [item = {}] = await dynamo.items(`${scope}#id#handled:key:`);
  expect(Buffer.byteLength(JSON.stringify(item))).toBeLessThan(1_024);
});

/** JSON of this size, as an API sends it. */
function jsonBody(bytes: number): Buffer {
  const transfers = Array.from({ length: Math.ceil(bytes / 150) }, () => ({
    id: randomUUID(),
    amount: 1 + Math.floor(Math.random() * 100_000),
    currency: 'EUR',
    created_at: new Date(Math.random() * 1_740_830_400_000),
    status: 'succeeded',
  }));
  return Buffer.from(JSON.stringify({ type: 'transfer.succeeded', data: transfers })).subarray(0, bytes);
}

test('letters cost what their compressed size says, and one unit for their place in the index', async () => {
  const { client, measure } = openMeter();
  const deadLetters = createDynamoDeadLetters(client, { table, scope: randomUUID(), ...ampleTime });
  const letter = createLetter({ id: 'evt', rawBody: jsonBody(1_500) });
  const first = await measure('the first letter of a process, of 2,500 bytes', () =>
    deadLetters.put({ ...letter, id: 'first' }),
  );
  await deadLetters.remove('first');
  const put = await measure('a letter of 2,500 bytes', () => deadLetters.put(letter));
  expect(put).toMatchObject({ requests: 1, refused: 0 });
  expect(put.units).toBeLessThan(4);
  // It reads the index once. The emulator reports nothing for an empty one.
  expect(first).toMatchObject({ requests: 2, refused: 0 });
  const get = await measure('reading it', () => deadLetters.get('evt'));
  expect(get).toEqual({ requests: 1, refused: 0, units: 1 });
  const list = await measure('listing it', () => readAll(deadLetters.list()));
  // The last one finds the end.
  expect(list).toMatchObject({ requests: 3, refused: 0 });
  const count = await measure('counting it', () => deadLetters.count?.({ limit: 1_000 }));
  expect(count).toEqual({ requests: 1, refused: 0, units: 1 });
  const replaced = await measure('writing it anew in its millisecond', () => deadLetters.put(letter));
  expect(replaced).toMatchObject({ requests: 2, refused: 1 });
  const later = { ...letter, parkedAt: letter.parkedAt + 1 };
  const moved = await measure('writing it anew later', () => deadLetters.put(later));
  expect(moved).toMatchObject({ requests: 1, refused: 0 });
  const removed = await measure('removing it', () => deadLetters.remove('evt'));
  expect(removed).toMatchObject({ requests: 2, refused: 0 });
});

test('many letters at once, the first of a process, read the index once', async () => {
  const { client, measure } = openMeter();
  const deadLetters = createDynamoDeadLetters(client, { table, scope: randomUUID(), ...ampleTime });
  const ids = Array.from({ length: 20 }, (_, number) => String(number));
  const cost = await measure('20 letters at once', () =>
    Promise.all(ids.map((id) => deadLetters.put(createLetter({ id })))),
  );
  expect(cost).toMatchObject({ requests: 21, refused: 0 });
});

test.each([
  ['JSON', jsonBody(1_048_576)],
  ['random bytes', randomBytes(1_048_576)],
])('a letter with a body of 1 MiB costs what is left of it: %s', async (kind, rawBody) => {
  const { client, measure } = openMeter();
  const scope = randomUUID();
  const deadLetters = createDynamoDeadLetters(client, { table, scope, ...ampleTime });
  const letter = createLetter({ id: 'long', rawBody });
  await deadLetters.put(createLetter({ id: 'first' }));
  const put = await measure(`1 MiB of ${kind}`, () => deadLetters.put(letter));
  expect(put.requests).toBeLessThanOrEqual(5);
  expect(put.units).toBeLessThan(1_100);
  const get = await measure(`reading 1 MiB of ${kind}`, () => deadLetters.get('long'));
  expect(get).toMatchObject({ refused: 0 });
  await measure(`listing 1 MiB of ${kind}`, () => readAll(deadLetters.list()));
  const removed = await measure(`removing 1 MiB of ${kind}`, async () => {
    await deadLetters.remove('long');
    // They may take longer than the removal.
    await until('its parts are gone', async () => {
      return (await dynamo.items(`${scope}#letter-parts#`)).length === 0;
    });
  });
  expect(removed).toMatchObject({ requests: 1 + put.requests, refused: 0 });
});
