import { type Client, ServiceError } from 'posthorn/client';
import { describe, expect, test } from 'vitest';
import { errorOf } from '../../support/error-of.ts';
import { readAll } from '../../support/read-all.ts';
import { page, webhook } from './literal-bodies.ts';
import { inTurn, json, type Reply } from './literal-service.ts';
import { openClient, openClientOf } from './open-client.ts';
import { failureOf } from './secrets.ts';

const url = 'https://example.com/hooks';

/** A page of webhooks from an offset on, of a service that always has more. */
function nextPage(line: string, length: number): Reply {
  const offset = Number(new URL(line.slice('GET '.length), 'http://host').searchParams.get('offset'));
  return json(
    page(
      Array.from({ length }, (_, index) => webhook(`WH${offset + index}`)),
      { offset },
    ),
  );
}

describe('a list of webhooks that never ends', () => {
  test('ends after maxItems, over all pages', async () => {
    const { webhooks, requests } = await openClientOf(({ line }) => nextPage(line, 100), { maxItems: 250 });
    const ids: string[] = [];
    const error = await failureOf(async () => {
      for await (const { id } of webhooks.listAll()) ids.push(id);
    });
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({
      code: 'list_too_long',
      message:
        'webhooks.listAll got more than 250 entries from the service: raise maxItems of createClient if it has that many',
    });
    expect(ids).toEqual(Array.from({ length: 250 }, (_, index) => `WH${index}`));
    expect(requests).toHaveLength(3);
  });

  test('ends ensure too', async () => {
    const { webhooks } = await openClientOf(({ line }) => nextPage(line, 100), { maxItems: 250 });
    const ensure = () => webhooks.ensure({ url: 'https://example.com/other' });
    expect(await failureOf(ensure)).toMatchObject({ code: 'list_too_long' });
  });

  test('one with exactly maxItems is read to its end', async () => {
    const { webhooks } = await openClientOf(inTurn(json(page([webhook('WH1'), webhook('WH2')]))), {
      maxItems: 2,
    });
    expect(await readAll(webhooks.listAll())).toHaveLength(2);
  });
});

const purpose = { id: 3, category: 'c', title: 't', createdAt: 'x', updatedAt: 'x' };
const currency = { id: 1, currencyName: 'EUR', countryName: 'France' };
const check = {
  ...{ BatchID: '', BundleID: '', CheckTransID: '', MerchantTransID: '', CheckNumber: '', Amount: '' },
  ...{ FirstName: '', LastName: '', SentStatus: '', ProcessingStatus: '', TrackingNumber: '' },
};
const account = { errorCode: 0, errorMessage: '', bankName: '', bankAlias: '', accountLast4: '' };
const metadata = { total: 2, currentPage: 1, pageSize: 50 };

test('a list has 100,000 entries at most by default', async () => {
  const listOf = async (length: number) => {
    const answer = { success: true, data: Array(length).fill(currency), metadata };
    const { currencies } = await openClientOf(inTurn(json(JSON.stringify(answer))), {
      maxAnswerBytes: 16_777_216,
    });
    return currencies.list();
  };
  expect(await listOf(100_000)).toHaveLength(100_000);
  expect(await failureOf(() => listOf(100_001))).toMatchObject(
    errorOf('list_too_long', 'currencies.list got more than 100000 entries'),
  );
});

interface List {
  readonly name: string;
  readonly path: string;
  readonly entry: object;
  readonly answer: (entries: readonly unknown[]) => object;
  readonly call: (client: Client) => Promise<unknown>;
}

const lists: readonly List[] = [
  {
    name: 'paymentPurposes.list',
    path: 'documentTypes',
    entry: { ...purpose, createdAt: '2021-06-01T10:00:00.000Z', updatedAt: '2021-06-01T10:00:00.000Z' },
    answer: (documentTypes) => ({ success: true, documentTypes }),
    call: ({ paymentPurposes }) => paymentPurposes.list(),
  },
  {
    name: 'currencies.list',
    path: 'data',
    entry: currency,
    answer: (data) => ({ success: true, data, metadata }),
    call: ({ currencies }) => currencies.list(),
  },
  {
    name: 'currencies.listPage',
    path: 'data',
    entry: currency,
    answer: (data) => ({ success: true, data, metadata }),
    call: ({ currencies }) => currencies.listPage(),
  },
  {
    name: 'eChecks.findByMerchantTransactionId',
    path: 'checkInfo',
    entry: check,
    answer: (checkInfo) => ({ ...account, checkInfo }),
    call: ({ eChecks }) => eChecks.findByMerchantTransactionId('order-1'),
  },
];

describe.each(lists)('$name', ({ name, path, entry, answer, call }) => {
  const reply = (entries: readonly unknown[]) => json(JSON.stringify(answer(entries)));

  test('takes maxItems and no more', async () => {
    const two = await openClientOf(inTurn(reply([entry, entry])), { maxItems: 2 });
    await call(two);
    const three = await openClientOf(inTurn(reply([entry, entry, entry])), { maxItems: 2 });
    expect(await failureOf(() => call(three))).toMatchObject(
      errorOf('list_too_long', `${name} got more than 2 entries`),
    );
  });

  test('of a mebibyte of wrong entries ends with the first', async () => {
    const client = await openClient(reply(Array(300_000).fill({})));
    const error = await failureOf(() => call(client));
    expect(error).toMatchObject({ code: 'answer_invalid' });
    const { message } = error instanceof ServiceError ? error : { message: '' };
    expect(message).toContain(`${path}.0.`);
    expect(message).not.toContain(`${path}.1.`);
  });

  test('names the place of a wrong entry behind right ones', async () => {
    const client = await openClient(reply([...Array(500).fill(entry), {}, entry, {}]));
    const error = await failureOf(() => call(client));
    expect(error).toMatchObject({ message: expect.stringContaining(`${path}.500.`) });
    expect(error).not.toMatchObject({ message: expect.stringContaining(`${path}.502.`) });
  });
});

test.each<[string, string]>([
  ['webhooks', page(Array(300_000).fill('{}'))],
  ['filters', page([webhook('WH1', { enabled_events: JSON.stringify(Array(300_000).fill({})) })])],
  [
    'types',
    page([
      webhook('WH1', { enabled_events: JSON.stringify([{ entity: 'a', types: Array(400_000).fill(1) }]) }),
    ]),
  ],
])('a mebibyte of wrong %s is a short error', async (_name, text) => {
  const { webhooks } = await openClient(json(text));
  const error = await failureOf(() => webhooks.list());
  expect(error).toMatchObject({ code: 'answer_invalid' });
  expect(error instanceof Error && error.message.length).toBeLessThan(2_000);
});

test('an id that is too long for a path is refused', async () => {
  const { webhooks } = await openClient(json(page([webhook('W'.repeat(1_001))])));
  expect(await failureOf(() => readAll(webhooks.listAll()))).toMatchObject({ code: 'answer_invalid' });
});

test('30,000 filters of one entity are compared in linear time', async () => {
  const filters = Array.from({ length: 30_000 }, (_, index) => ({ entity: 'a', types: [`${index}`] }));
  const listed = json(page([webhook('WH1', { enabled_events: JSON.stringify(filters) })]));
  const { webhooks, lines } = await openClient(listed, json(webhook('WH1')));
  const { changes } = await webhooks.ensure({ url, enabled_events: ['transfer.created'] });
  expect(changes).toEqual(['enabled_events']);
  expect(lines()).toHaveLength(2);
});

test('of many webhooks with one url an error names some', async () => {
  const { webhooks } = await openClient(
    json(page(Array.from({ length: 90 }, (_, index) => webhook(`WH${index}`)))),
  );
  expect(await failureOf(() => webhooks.ensure({ url }))).toMatchObject(
    errorOf('webhook_ambiguous', /"WH0", .*, "WH19" and 70 more\. Give the id/),
  );
});
