import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { createOpenApiDocument } from '../../../src/service/openapi/document.ts';
import {
  CREATED,
  CREATION,
  CURRENCIES,
  EVENT,
  LIST,
  LOOKUP,
  PURPOSES,
  QUOTE,
  WEBHOOK,
} from '../shapes/bodies.ts';

const document = JSON.parse(JSON.stringify(createOpenApiDocument()));
const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
ajv.addSchema(document, 'openapi');

type Path = readonly (string | number)[];

const pointer = (path: Path): string =>
  path
    .map((part) => `/${encodeURIComponent(String(part).replaceAll('~', '~0').replaceAll('/', '~1'))}`)
    .join('');

/** Whether a body, as JSON, is valid where the document has its schema. */
function accepts(path: Path, json: string): boolean {
  // By its reference, so that it is compiled once.
  const schema = `openapi#${pointer([...path, 'content', 'application/json', 'schema'])}`;
  return ajv.validate(schema, JSON.parse(json)) === true;
}

const request = (path: string, method: string): Path => ['paths', path, method, 'requestBody'];
const answer = (path: string, method: string, status: string): Path => [
  ...['paths', path, method, 'responses', status],
];
const event = (type: string): Path => ['webhooks', type, 'post', 'requestBody'];

const FX = '/banking/us2/v1/transaction/fxQuote';
const CHECKS = '/banking/echecks/apiServices/uploadChecks.php';
const PROFILE = '/banking/ibans/v2/profile/v2.1';
const HOOKS = '/payments/na/webhooks';
const HOOK = '/payments/na/webhooks/{webhook_id}';

describe.each<[string, Path, string, readonly (readonly [string, string])[]]>([
  [
    'the request of a quote',
    request(FX, 'post'),
    '{"destination":{"currency":"EUR","amount":"1000.00"}}',
    [
      ['"currency":"EUR",', ''],
      ['"EUR"', '"EURO"'],
      ['"1000.00"', '1000'],
      [',"amount":"1000.00"', ''],
      ['}}', '},"source":{"amount":"5.00"}}'],
    ],
  ],
  [
    'the request of a quote by its source',
    request(FX, 'post'),
    '{"destination":{"currency":"EUR"},"source":{"amount":"5.00"}}',
    [
      ['"destination":{"currency":"EUR"},', ''],
      ['"5.00"', '5'],
      ['"amount":"5.00"', ''],
    ],
  ],
  ...[answer(FX, 'post', '200'), answer(`${FX}/id/{fxQuoteId}`, 'get', '200')].map(
    (path): [string, Path, string, [string, string][]] => [
      `a quote at ${path[1]}`,
      path,
      QUOTE,
      [
        ['"resourceName":"fxQuote"', '"resourceName":"quote"'],
        ['"id":98765', '"id":"98765"'],
        ['"1000.00"', '1000'],
        ['"currency":"USD"', '"currency":840'],
        ['"fxRate":"0.917853"', '"fxRate":0.917853'],
        ['"fee":"0.00",', ''],
        ['03/31/2026 09:05:30', '2026-03-31T09:05:30Z'],
        ['"status":"GENERATED",', ''],
        ['"userName":"treasury"', '"login":"treasury"'],
      ],
    ],
  ),
  [
    'the request of a lookup',
    request(CHECKS, 'post'),
    '{"merchantTransID":["order-17","order-18"],"returnCustomFields":"0","inBehalf":""}',
    [
      ['"merchantTransID"', '"merchantTransId"'],
      ['"order-18"', '18'],
      ['"0"', '0'],
    ],
  ],
  ['the lookup of one id', request(CHECKS, 'post'), '{"merchantTransID":"order-17"}', [['"order-17"', '17']]],
  [
    'the answer to a lookup',
    answer(CHECKS, 'post', '200'),
    LOOKUP,
    [
      ['"errorCode":0,', ''],
      ['"errorCode":0', '"errorCode":"0"'],
      ['"Amount":"75.50"', '"Amount":75.5'],
      ['"TrackingNumber"', '"Tracking"'],
    ],
  ],
  [
    'the purposes',
    answer(`${PROFILE}/purpose`, 'get', '200'),
    PURPOSES,
    [
      ['"success":true,', ''],
      ['"id":3', '"id":"3"'],
      ['"title":"Purchase of Good(s)",', ''],
      ['2024-01-15T10:00:00.000Z', 'yesterday'],
    ],
  ],
  [
    'the currencies',
    answer(`${PROFILE}/currencies`, 'get', '200'),
    CURRENCIES,
    [
      ['"currencyName"', '"currency"'],
      ['"total":1', '"total":1.5'],
      ['"success":true', '"success":"yes"'],
    ],
  ],
  [
    'the creation of a webhook',
    request(HOOKS, 'post'),
    CREATION,
    [
      ['"url":"https://example.com/events",', ''],
      ['https:', 'http:'],
      ['"merchant"', '"customer"'],
      ['"verification.failed"', '"won"'],
      ['"BEARER"', '"DIGEST"'],
      ['"BEARER"', '"BASIC"'],
      ['"token":"t"', ''],
    ],
  ],
  [
    'the answer to a creation',
    answer(HOOKS, 'post', '201'),
    CREATED,
    [
      ['"k3y"', 'null'],
      ['"password":"p"', '"secret":"p"'],
    ],
  ],
  [
    'a list of webhooks',
    answer(HOOKS, 'get', '200'),
    LIST,
    [
      ['"_embedded"', '"embedded"'],
      ['"limit":10', '"limit":"10"'],
      [',"count":1', ''],
      ['"enabled":true', '"enabled":1'],
    ],
  ],
  [
    'an update',
    request(HOOK, 'put'),
    '{"url":"https://example.com/new","enabled":false,"authentication":{"type":"NONE"},"enabled_events":[]}',
    [
      ['https:', 'http:'],
      ['false', '"no"'],
      ['"NONE"', '"BASIC"'],
      ['[]', 'null'],
    ],
  ],
  ...['get', 'put'].map((method): [string, Path, string, [string, string][]] => [
    `a webhook by ${method}`,
    answer(HOOK, method, '200'),
    WEBHOOK,
    [
      ['"updated_at":"2026-03-31T09:05:00Z",', ''],
      ['"type":"BASIC"', '"type":"basic"'],
      ['"types":["created"]', '"types":"created"'],
      ['"href"', '"url"'],
    ],
  ]),
  [
    'an error',
    answer(HOOK, 'put', '400'),
    '{"status":400,"message":"Invalid URL","details":"URL must use the HTTPS protocol"}',
    [
      ['"status":400', '"status":"400"'],
      ['"message":"Invalid URL",', ''],
    ],
  ],
  [
    'an error without details',
    answer(HOOK, 'get', '404'),
    '{"status":404,"message":"Webhook not found"}',
    [['"Webhook not found"', 'null']],
  ],
  [
    'an event',
    event('transfer.succeeded'),
    EVENT,
    [
      ['"id":"evt_1",', ''],
      ['"transfer.succeeded"', '"transfer.failed"'],
      ['2026-03-31T09:05:00.000Z', 'today'],
      ['"data"', '"resource"'],
      ['1250', '"1250"'],
    ],
  ],
])('%s', (_, path, body, wrong) => {
  test('is valid as the interface has it', () => {
    expect(accepts(path, body)).toBe(true);
  });

  test.each(wrong)('is refused with %s replaced by %s', (from, to) => {
    const broken = body.replace(from, to);
    expect(broken).not.toBe(body);
    expect(accepts(path, broken)).toBe(false);
  });
});

test('an update may be empty, and members that are new are accepted', () => {
  expect(accepts(request(HOOK, 'put'), '{}')).toBe(true);
  expect(accepts(answer(HOOK, 'get', '200'), WEBHOOK.replace('{', '{"brand_new":1,'))).toBe(true);
});

test('every event type has its own literal', () => {
  for (const type of Object.keys(document.webhooks)) {
    expect(accepts(event(type), EVENT.replace('transfer.succeeded', type)), type).toBe(true);
    expect(accepts(event(type), EVENT.replace('transfer.succeeded', 'transfer.other')), type).toBe(false);
  }
});

test('every example in the document is valid by the schema beside it', () => {
  const bodies = ['400', '404'].flatMap((status) => {
    const path = answer(HOOK, 'put', status);
    const { examples } = document.paths[HOOK].put.responses[status].content['application/json'];
    return Object.values<{ value: unknown }>(examples).map(({ value }) => ({ path, value }));
  });
  expect(bodies.length).toBe(4);
  for (const { path, value } of bodies) expect(accepts(path, JSON.stringify(value))).toBe(true);
});
