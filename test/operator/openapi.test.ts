import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { routes } from '../../src/operator/routes.ts';
import { operations, text } from './documented.ts';
import { fetchOperator } from './mounts.ts';
import { createOperated } from './operated.ts';

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
    expect(operations.toSorted()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort());
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
