import { randomUUID } from 'node:crypto';
import type { ReturnConsumedCapacity } from '@aws-sdk/client-dynamodb';
import { createDynamoDeadLetters, createDynamoStore } from 'posthorn/dynamodb';
import { afterAll, expect, test } from 'vitest';
import { createLetter } from '../dead-letters/conformance.ts';
import { readAll } from '../support/read-all.ts';
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
  const client = dynamo.openClient();
  client.middlewareStack.add(
    (next) => async (parameters) => {
      const ReturnConsumedCapacity: ReturnConsumedCapacity = 'TOTAL';
      Object.assign(parameters.input, { ReturnConsumedCapacity });
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
  return { client, measure };
}

test('operations of the store cost one write unit each, and a claim on a known id one more', async () => {
  const { client, measure } = openMeter();
  const store = createDynamoStore(client, { table, scope: randomUUID() });
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
  expect(await measure('a completion', () => store.complete(again))).toEqual(written);
  expect(await measure('a claim of a completed event', () => store.claim(request))).toEqual(refused);
  const unknown = { ...request, id: 'never', handled: [] };
  expect(await measure('a health check', () => store.release(unknown))).toEqual(refused);
});

test('letters cost what their size says, and one unit for their place in the index', async () => {
  const { client, measure } = openMeter();
  const deadLetters = createDynamoDeadLetters(client, { table, scope: randomUUID() });
  const letter = createLetter({ id: 'evt', rawBody: Buffer.alloc(1_500) });
  const put = await measure('a letter of 2,500 bytes', () => deadLetters.put(letter));
  expect(put).toEqual({ requests: 1, refused: 0, units: 4 });
  const get = await measure('reading it', () => deadLetters.get('evt'));
  expect(get).toEqual({ requests: 1, refused: 0, units: 1 });
  const list = await measure('listing it', () => readAll(deadLetters.list()));
  // The last one finds the end.
  expect(list).toMatchObject({ requests: 3, refused: 0 });
  const count = await measure('counting it', () => deadLetters.count?.({ limit: 1_000 }));
  expect(count).toEqual({ requests: 1, refused: 0, units: 1 });
  const replaced = await measure('writing it anew in its millisecond', () => deadLetters.put(letter));
  expect(replaced).toMatchObject({ requests: 2, refused: 1, units: 3 });
  const later = { ...letter, parkedAt: letter.parkedAt + 1 };
  const moved = await measure('writing it anew later', () => deadLetters.put(later));
  expect(moved).toMatchObject({ requests: 1, refused: 0, units: 5 });
  const removed = await measure('removing it', () => deadLetters.remove('evt'));
  expect(removed).toMatchObject({ requests: 3, refused: 0 });
  const longLetter = createLetter({ id: 'long', rawBody: Buffer.alloc(1_048_576) });
  const split = await measure('a letter with a body of 1 MiB', () => deadLetters.put(longLetter));
  // Five parts, the letter's item, and a look for forgotten parts.
  expect(split).toMatchObject({ requests: 7, refused: 0 });
  const long = await measure('reading that', () => deadLetters.get('long'));
  expect(long).toMatchObject({ requests: 3, refused: 0 });
});
