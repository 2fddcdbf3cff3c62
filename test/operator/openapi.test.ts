import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { createOperatorDocument } from '../../src/operator/openapi.ts';
import { routes } from '../../src/operator/routes.ts';
import { throwing } from '../support/throwing.ts';
import { type Answer, type Asked, fetchOperator } from './mounts.ts';
import { createOperated, idOf, letter, letters, NOW, record } from './operated.ts';
import { deliver } from './sent.ts';

const text = JSON.stringify(createOperatorDocument(routes, '/operator'));

/** Each operation of the document as `METHOD /path`. */
const operations = Object.entries<object>(JSON.parse(text).paths).flatMap(([path, item]) =>
  Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
);

/** The document, whose objects have no other members than those that it names. */
const strict: object = JSON.parse(text, (_name, value) =>
  value?.type === 'object' && value.properties !== undefined
    ? { additionalProperties: false, ...value }
    : value,
);

const ajv = new Ajv2020({ strict: false });
ajv.addSchema(strict, 'operator');

const pointer = (...parts: readonly string[]): string =>
  parts.map((part) => `/${encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('');

/** Holds an answer, or the body of a request, against its schema. */
function errorsOf(value: unknown, ...place: readonly string[]): unknown {
  ajv.validate(`operator#${pointer('paths', ...place, 'schema')}`, value);
  return ajv.errors ?? [];
}

function expectDocumented(route: string, { body, headers, status }: Answer): void {
  const [method = '', path = ''] = route.split(' ');
  const type = headers.get('content-type') ?? '';
  const place = [
    path,
    method.toLowerCase(),
    'responses',
    status === 200 ? '200' : 'default',
    'content',
    type,
  ];
  expect(errorsOf(body, ...place), `${route} ${status} ${JSON.stringify(body)}`).toEqual([]);
}

describe('the OpenAPI document', () => {
  test('is valid by a public validator', async () => {
    const validator = new Validator();
    expect(await validator.validate(JSON.parse(text))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  test('points to nothing that is not there', () => {
    const schemas = Object.keys(JSON.parse(text).components.schemas);
    const pointers = Array.from(text.matchAll(/"\$ref":"([^"]*)"/g), ([, name]) => name);
    expect(pointers.length).toBeGreaterThan(20);
    const known = schemas.map((name) => `#/components/schemas/${name}`);
    expect(pointers.filter((name) => !known.includes(String(name)))).toEqual([]);
    expect(text).not.toContain('$defs');
  });

  test('has each route, and is served as it is created', async () => {
    expect(operations.sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort());
    const ids = routes.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const served = await fetchOperator(createOperated().receiver)('/api/openapi.json');
    expect(served.text).toBe(text);
  });

  test('names each parameter of a list, with its limits', () => {
    const { parameters } = JSON.parse(text).paths['/api/dead-letters'].get;
    const names = parameters.map(({ name }: { name: string }) => name).sort();
    expect(names).toEqual(['after', 'limit', 'reason', 'receiver', 'since', 'type', 'until']);
    expect(parameters).toContainEqual({
      ...{ name: 'limit', in: 'query' },
      schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
    });
    const whole = JSON.parse(text).paths;
    expect(JSON.stringify(whole['/api/receivers'].get)).not.toContain('"parameters":[{');
  });
});

const LETTERS = '/api/dead-letters';
const rerun = { handlers: ['book'], run: 'mend' };
const all = { selection: {} };

/** A walk through all routes: the route, what is asked of it, and the status. */
const walk: readonly (readonly [route: string, path: string, status: number, asked?: Asked])[] = [
  ['GET /api/receivers', '/api/receivers', 200],
  ['GET /api/health', '/api/health', 200],
  ['GET /api/deliveries', '/api/deliveries', 200],
  ['GET /api/openapi.json', '/api/openapi.json', 200],
  ['GET /api/dead-letters', LETTERS, 200],
  ['GET /api/dead-letters', `${LETTERS}?limit=2`, 200],
  ['GET /api/dead-letters', `${LETTERS}?limit=0`, 400],
  ['GET /api/dead-letters', `${LETTERS}?receiver=x`, 400],
  ['GET /api/dead-letters/{id}', `${LETTERS}/${idOf(1)}`, 200],
  ['GET /api/dead-letters/{id}', `${LETTERS}/none`, 404],
  ['GET /api/dead-letters/{id}', `${LETTERS}/%ff`, 400],
  ['GET /api/events', '/api/events', 200],
  ['GET /api/events', '/api/events?limit=1', 200],
  ['GET /api/events', '/api/events?outcome=lost', 400],
  ['GET /api/events/{id}', `/api/events/${idOf(1)}`, 200],
  ['GET /api/events/{id}', '/api/events/none', 404],
  ...(['replay', 'drop'] as const).flatMap((deed) => {
    const [route, path] = [`POST ${LETTERS}/${deed}`, `${LETTERS}/${deed}`];
    return [
      [route, path, 200, { body: { ...all, dryRun: true } }],
      [route, path, 200, { body: { ids: [idOf(1), 'none'], dryRun: true } }],
      [route, path, 200, { body: { ids: [idOf(deed === 'drop' ? 2 : 3), idOf(24), 'none'] } }],
      [route, path, 200, { body: { selection: { type: 'transfer.*', since: 0, until: NOW, reason: 'x' } } }],
      [route, path, 200, { body: { ...all, after: idOf(2) } }],
      [route, path, 400, { body: {} }],
      [route, path, 415, { body: all, headers: { 'content-type': 'text/plain' } }],
      [route, path, 403, { body: all, headers: { origin: 'null' } }],
    ] as const;
  }),
  ['POST /api/events/rerun', '/api/events/rerun', 200, { body: { ...rerun, ...all, dryRun: true } }],
  ['POST /api/events/rerun', '/api/events/rerun', 200, { body: { ...rerun, ids: [idOf(1), 'none'] } }],
  [
    'POST /api/events/rerun',
    '/api/events/rerun',
    200,
    { body: { ...rerun, ...all, reason: 'wrong account' } },
  ],
  ['POST /api/events/rerun', '/api/events/rerun', 400, { body: { ...rerun, ...all, handlers: ['none'] } }],
];

test('each answer of a walk through all routes is as documented, and each body that was taken', async () => {
  let fails = false;
  const handle = ({ id }: { readonly id: string }): void => {
    if (fails || id === idOf(3)) throw new Error('still locked');
  };
  const parked = [
    ...letters(23),
    letter(24, {
      runningUntil: NOW + 1,
      lastTriedAt: NOW,
      account: 'acct_1',
      eventId: 'evt',
      type: undefined,
    }),
  ];
  const records = [record(1), record(2, { rawBody: undefined, handled: [] })];
  const { receiver } = createOperated({ handle, parked, records });
  await deliver(receiver, 'evt_new');
  fails = true;
  await deliver(receiver, 'evt_failed');
  await deliver(receiver, 'evt_1', { 'x-service-signature': ['wrong'] });
  fails = false;
  const ask = fetchOperator(receiver);
  for (const [route, path, status, asked = {}] of walk) {
    const answer = await ask(path, asked);
    expect(answer.status, `${route} ${answer.text}`).toBe(status);
    expectDocumented(route, answer);
    const request = [...route.split(' ').reverse()].map((part) => part.toLowerCase());
    if (status === 200 && asked.body !== undefined)
      expect(errorsOf(asked.body, ...request, 'requestBody', 'content', 'application/json')).toEqual([]);
  }
  expect(new Set(walk.map(([route]) => route))).toEqual(new Set(operations));
});

test('answers of a receiver whose parts are away are as documented', async () => {
  const deadLetters = { ...createOperated({ parked: [] }).receiver.deadLetters };
  const away = {
    put: async () => {},
    remove: async () => false,
    get: throwing('away'),
    list: throwing('away'),
  };
  const { receiver } = createOperated({ deadLetters: { ...deadLetters, ...away } });
  const ask = fetchOperator(receiver, { audit: throwing('no disk') });
  expectDocumented('GET /api/health', await ask('/api/health'));
  const audited = await ask(`${LETTERS}/drop`, { body: { ids: ['x'] } });
  expect(audited.status).toBe(503);
  expectDocumented(`POST ${LETTERS}/drop`, audited);
});
