import { ServiceError, type Webhook } from 'posthorn/client';
import { expect, test } from 'vitest';
import { readAll } from '../../support/read-all.ts';
import { page, webhook } from './literal-bodies.ts';
import { json } from './literal-service.ts';
import { openClient, openClientOf } from './open-client.ts';
import { failureOf } from './secrets.ts';

/** Webhooks WH<from> to WH<to>, without the last. */
function webhooks(from: number, to: number): readonly string[] {
  return Array.from({ length: to - from }, (_, index) => webhook(`WH${from + index}`));
}

const idsOf = (all: readonly Webhook[]) => all.map(({ id }) => id);
const ids = (count: number) => Array.from({ length: count }, (_, index) => `WH${index}`);
const get = (offset: number) => `GET /payments/na/webhooks?limit=100&offset=${offset}`;

test('nothing there: one request', async () => {
  const client = await openClient(json(page([])));
  expect(await readAll(client.webhooks.listAll())).toEqual([]);
  expect(client.lines()).toEqual([get(0)]);
});

test('pages of 100 by offset, until one is short', async () => {
  const client = await openClient(
    json(page(webhooks(0, 100))),
    json(page(webhooks(100, 200), { offset: 100 })),
    json(page(webhooks(200, 230), { offset: 200 })),
  );
  expect(idsOf(await readAll(client.webhooks.listAll()))).toEqual(ids(230));
  expect(client.lines()).toEqual([get(0), get(100), get(200)]);
});

test('a last page that is full is followed by an empty one', async () => {
  const client = await openClient(json(page(webhooks(0, 100))), json(page([], { offset: 100 })));
  expect(idsOf(await readAll(client.webhooks.listAll()))).toEqual(ids(100));
  expect(client.lines()).toEqual([get(0), get(100)]);
});

test('a count of the whole list works as well as a count of the page', async () => {
  const client = await openClient(
    json(page(webhooks(0, 100), { count: 130 })),
    json(page(webhooks(100, 130), { offset: 100, count: 130 })),
  );
  expect(idsOf(await readAll(client.webhooks.listAll()))).toEqual(ids(130));
  expect(client.lines()).toEqual([get(0), get(100)]);
});

test('a service that sends fewer than it was asked for is read to the end', async () => {
  const lowered = await openClient(
    json(page(webhooks(0, 50), { limit: 50 })),
    json(page(webhooks(50, 70), { limit: 50, offset: 50 })),
  );
  expect(idsOf(await readAll(lowered.webhooks.listAll()))).toEqual(ids(70));
  expect(lowered.lines()).toEqual([get(0), get(50)]);
  const counted = await openClient(
    json(page(webhooks(0, 50), { count: 70 })),
    json(page(webhooks(50, 70), { count: 70 })),
  );
  expect(idsOf(await readAll(counted.webhooks.listAll()))).toEqual(ids(70));
  expect(counted.lines()).toEqual([get(0), get(50)]);
});

test('an empty page ends the list, whatever it counts', async () => {
  const client = await openClient(
    json(page(webhooks(0, 100), { count: 500 })),
    json(page([], { limit: 0, count: 500 })),
  );
  expect(await readAll(client.webhooks.listAll())).toHaveLength(100);
  expect(client.lines()).toEqual([get(0), get(100)]);
});

test('a service that passes over the offset: a repeated id stops the list with an error', async () => {
  const client = await openClientOf(() => json(page(webhooks(0, 100))));
  const seen: string[] = [];
  const error = await failureOf(async () => {
    for await (const { id } of client.webhooks.listAll()) seen.push(id);
  });
  expect(error).toBeInstanceOf(ServiceError);
  expect(error).toMatchObject({ code: 'list_repeated', message: expect.stringContaining('"WH0" twice') });
  expect(seen).toEqual(ids(100));
  expect(client.lines()).toEqual([get(0), get(100)]);
});

test('an id twice on one page is repeated too', async () => {
  const client = await openClient(json(page([webhook('WH1'), webhook('WH1')])));
  const error = await failureOf(() => readAll(client.webhooks.listAll()));
  expect(error).toHaveProperty('code', 'list_repeated');
});

test('no page is asked for before it is needed', async () => {
  const client = await openClient(json(page(webhooks(0, 100))));
  for await (const { id } of client.webhooks.listAll()) if (id === 'WH5') break;
  expect(client.lines()).toEqual([get(0)]);
});
