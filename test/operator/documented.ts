import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { createOperatorDocument } from '../../src/operator/openapi.ts';
import { routes } from '../../src/operator/routes.ts';
import type { Answer } from './mounts.ts';

/** The OpenAPI document as it is served. */
export const text: string = JSON.stringify(createOperatorDocument(routes, '/operator'));

/** Each operation of the document as `METHOD /path`. */
export const operations: readonly string[] = Object.entries<object>(JSON.parse(text).paths).flatMap(
  ([path, item]) => Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
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
export function errorsOf(value: unknown, ...place: readonly string[]): unknown {
  ajv.validate(`operator#${pointer('paths', ...place, 'schema')}`, value);
  return ajv.errors ?? [];
}

/** The answer of a route is as the document says, to the last member. */
export function expectDocumented(route: string, { body, headers, status }: Answer): void {
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
