import { ConfigurationError } from 'posthorn';
import { type CurrencyPage, type Query, ServiceError } from 'posthorn/client';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { json } from './literal-service.ts';
import { openClient } from './open-client.ts';
import { ACCESS_TOKEN, failureOf } from './secrets.ts';

const PATH = '/banking/ibans/v2/profile/v2.1/currencies';

/** Page `currentPage` of 180 currencies, 10 on each. */
function pageOf(currentPage: number): string {
  const data = Array.from({ length: 10 }, (_, index) => {
    const id = 10 * (currentPage - 1) + index + 1;
    return { id, currencyName: 'EUR', countryName: `Country ${id}`, decimals: 2 };
  });
  return JSON.stringify({
    success: true,
    data,
    metadata: { total: 180, currentPage, pageSize: 10, next: 'x' },
  });
}

describe('a service that sends the first 10 of 180 currencies', () => {
  test('list rejects with what it has read, and names the way out', async () => {
    const { currencies } = await openClient(json(pageOf(1)));
    const error = await failureOf(() => currencies.list());
    expect(error).toMatchObject({
      code: 'list_incomplete',
      status: 200,
      message: expect.stringMatching(/sent 10 of 180 currencies.*currencies\.listPage\(\{ query \}\)/),
    });
    const { data, metadata } = JSON.parse(pageOf(1));
    expect(error instanceof ServiceError && error.page).toEqual({ currencies: data, metadata });
    expectTypeOf<ServiceError['page']>().toEqualTypeOf<CurrencyPage | undefined>();
  });

  test('listPage gives what the service sends without being told a page', async () => {
    const { currencies, lines, requests } = await openClient(json(pageOf(1)));
    const { data, metadata } = JSON.parse(pageOf(1));
    expect(await currencies.listPage()).toEqual({ currencies: data, metadata });
    expect(lines()).toEqual([`GET ${PATH}`]);
    expect(requests[0]?.headers).toMatchObject({
      authorization: `Bearer ${ACCESS_TOKEN}`,
      'content-type': 'application/json',
    });
  });

  test('listPage reads all of them with the parameters that the service takes', async () => {
    const { currencies, lines } = await openClient(
      ...Array.from({ length: 18 }, (_, index) => json(pageOf(index + 1))),
    );
    const ids: number[] = [];
    for (let page = 1, total = 1; ids.length < total; page += 1) {
      const read = await currencies.listPage({
        query: { page, 'sort by': 'id&name', all: true, none: undefined },
      });
      ids.push(...read.currencies.map(({ id }) => id));
      total = read.metadata.total;
    }
    expect(ids).toEqual(Array.from({ length: 180 }, (_, index) => index + 1));
    expect(lines()).toHaveLength(18);
    expect(lines()[1]).toBe(`GET ${PATH}?page=2&sort+by=id%26name&all=true`);
  });
});

test('listPage is tried again, and refuses success: false, like list', async () => {
  const { currencies, lines } = await openClient({ status: 503 }, json(pageOf(1)), json('{"success":false}'));
  expect(await currencies.listPage({ query: { page: 1 } })).toMatchObject({ metadata: { currentPage: 1 } });
  expect(lines()).toEqual([`GET ${PATH}?page=1`, `GET ${PATH}?page=1`]);
  expect(await failureOf(() => currencies.listPage())).toMatchObject({
    code: 'service_refused',
    status: 200,
  });
});

test.each<[unknown, string]>([
  [{ page: 2 }, '"page" is not an option of currencies.listPage'],
  [{ query: 'page=2' }, 'query of currencies.listPage must be an object, got "page=2"'],
  [{ query: { page: [2] } }, 'the parameter "page" in the query of currencies.listPage must be a string'],
])('%j is refused before anything is sent', async (request, message) => {
  const { currencies, lines } = await openClient();
  const error = await failureOf(() => currencies.listPage(request as { query: Query }));
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(error).toHaveProperty('message', expect.stringContaining(message));
  expect(lines()).toEqual([]);
});
