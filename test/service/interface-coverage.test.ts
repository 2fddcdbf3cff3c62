import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { catalog } from 'posthorn';
import { adapterConformance } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { createOpenApiDocument } from '../../src/service/openapi/document.ts';
import { paths } from '../../src/service/shapes/paths.ts';
import { mountOnNode } from '../adapters/mounts.ts';
import { packageRoot } from '../support/child-program.ts';
import { rowsOf } from '../support/table-rows.ts';

const coverage = rowsOf('test/service/interface-coverage.md');
const assumptions = rowsOf('docs/assumptions.md');
const items = new Set(coverage.map(([item]) => item));
const references = coverage.flatMap(([, , covered = '']) => covered.split('<br>'));
const missing = (wanted: Iterable<string>): string[] => [...wanted].filter((item) => !items.has(item));

const TEST = /^`(?<file>[\w./-]+\.ts) › (?<title>[^`]+)`$/;
const ASSUMPTION = /^\[assumption\]\(\.\.\/\.\.\/docs\/assumptions\.md\): (?<text>.+)$/;

/** The titles of `test`, `describe` and what they return, such as `test.each(…)`. */
function titlesOf(file: string): readonly string[] {
  if (file === 'adapters/conformance.ts') return adapterConformance(mountOnNode).map(({ name }) => name);
  const path = join(packageRoot, 'test', file);
  const source = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const calls = source.matchAll(/(?:\b(?:test|describe)|\))\(\s*(['"`])((?:\\.|(?!\1).)*)\1\s*,/gs);
  return [...calls].map(([, , title = '']) => title.replaceAll(/\\(.)/g, '$1'));
}

describe('interface-coverage.md', () => {
  test('says of each item what covers it: tests that are there, or assumptions', () => {
    expect(coverage.length).toBeGreaterThan(150);
    expect(coverage.filter((cells) => cells.length !== 3 || cells.includes(''))).toEqual([]);
    const unfounded = references.filter((reference) => {
      const { file = '', title = '' } = TEST.exec(reference)?.groups ?? {};
      const { text } = ASSUMPTION.exec(reference)?.groups ?? {};
      return text === undefined
        ? !titlesOf(file).includes(title)
        : !assumptions.some(([leftOpen]) => leftOpen === text);
    });
    expect(unfounded).toEqual([]);
  });

  test('has a row for each path, with its methods', () => {
    const document = createOpenApiDocument();
    const operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `\`${method.toUpperCase()} ${path}\``),
    );
    expect(missing(operations)).toEqual([]);
    // Parameters are named in another way there.
    const unnamed = (path: string): string => path.replaceAll(/\{\w+\}/g, '{}');
    const documented = Object.keys(document.paths).map(unnamed);
    expect(Object.values(paths).filter((path) => !documented.includes(unnamed(path)))).toEqual([]);
  });

  test('has a row for each field of each schema', () => {
    const fields = Object.keys(schemas)
      .filter((name) => !isPart(name) && !isVariant(name))
      .flatMap((name) => fieldsOf(schemas[name] ?? {}, name));
    expect(fields.length).toBeGreaterThan(80);
    expect(missing(new Set(fields.map((field) => `\`${field}\``)))).toEqual([]);
  });

  test('has a row for each event type', () => {
    const listed = new Set([...items].flatMap((item = '') => item.split(' ')));
    const types = Object.entries(catalog).flatMap(([entity, names]) =>
      names.map((name) => `\`${entity}.${name}\``),
    );
    expect(types).toHaveLength(25);
    expect(types.filter((type) => !listed.has(type))).toEqual([]);
  });

  // Typed from the interface by hand: "States and transitions", "Authentication", "Events", "Errors" and
  // "Limits".
  test.each([
    ['transition', ['(none) → `GENERATED`', '`GENERATED` → `ACCEPTED`', '(none) → enabled']],
    ['transition', ['enabled → disabled', 'disabled → enabled', 'after the third failed retry']],
    ['scheme', ['FX quotes and eChecks', 'purposes and currencies', 'webhook management']],
    ['scheme', ['deliveries with `NONE`', 'deliveries with `BASIC`', 'deliveries with `BEARER`']],
    ['scheme', ['the signature', '`x-service-signature`', 'a mismatch']],
    ['rule', ['only enabled webhooks receive events', 'the filter', 'the endpoint', 'retries', 'duplicates']],
    ['error', ['404 Webhook not found', '400 Invalid URL', '400 Invalid authentication configuration']],
    ['error', ['400 Invalid enabled_events', 'eCheck status']],
    ['limit', ['FX quote validity', 'webhook endpoint response time', 'delivery retries']],
    ['limit', ['accepted endpoint status', 'list page size']],
  ])('has a row for each %s: %j', (_, wanted) => {
    expect(missing(wanted)).toEqual([]);
  });

  // Typed from the interface by hand, in its order: everything that it calls "not shown".
  test.each([
    'other `userType` values',
    'values of `SentStatus` and `ProcessingStatus`',
    'extra fields with `returnCustomFields`',
    'decimal precision and formatting rules',
    'a quote after its 30 seconds',
    'whether the flag itself turns false',
    'transitions of `SentStatus` and `ProcessingStatus`',
    'transitions of the entities behind the events',
    'both amounts',
    'whether an expired quote can be retrieved',
    'values of `returnCustomFields` and `inBehalf`',
    'the result when no check matches',
    "the login's request and response",
    'parameters that choose the page',
    'success statuses of the webhook operations',
    'the parameter that sets the offset',
    '`GET /payments/na/webhooks/{webhook_id}`',
    'deleting a webhook',
    'lifetime of the access token',
    'the operations that trigger each event',
    '`data` beyond `id`, `state` and `amount`',
    'events for FX quotes and eChecks',
    '`errorCode` other than 0',
    'errors of FX quotes and reference lists',
    'failed authentication',
    'a user who is not an administrator',
    'rate limits',
    'minimum and maximum amounts of quotes',
    'supported currency pairs',
    'deprecation and compatibility policy',
  ])('points to the choice for what is not shown: %s', (item) => {
    const [, says, covered] = coverage.find(([name]) => name === item) ?? [];
    expect(says).toContain('not shown');
    expect(covered).toContain('[assumption](../../docs/assumptions.md): ');
  });
});

describe('docs/assumptions.md', () => {
  test('says of each what was left open, the choice, the reason, and a place that is there', () => {
    expect(assumptions.length).toBeGreaterThan(80);
    expect(assumptions.filter((cells) => cells.length !== 4 || cells.includes(''))).toEqual([]);
    const places = assumptions.flatMap(([, , , place = '']) => place.split(', '));
    const isThere = (place: string): boolean =>
      /^`[\w/-]+\.ts`$/.test(place) && existsSync(join(packageRoot, place.slice(1, -1)));
    expect(places.filter((place) => !isThere(place))).toEqual([]);
  });

  test('has one row for each', () => {
    const leftOpen = assumptions.map(([name]) => name);
    expect(leftOpen.filter((name, index) => leftOpen.indexOf(name) !== index)).toEqual([]);
  });
});

interface Schema {
  readonly $ref?: string;
  readonly not?: object;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

const schemas: Readonly<Record<string, Schema>> = JSON.parse(
  JSON.stringify(createOpenApiDocument().components.schemas),
);

/** What others consist of: its fields are named as theirs. */
function isPart(name: string): boolean {
  return (
    ['Money', 'Actor', 'Authentication', 'EventFilters', 'EventData'].includes(name) ||
    name.endsWith('EventFilter')
  );
}

/** What has the fields of another. */
function isVariant(name: string): boolean {
  return name === 'CreatedWebhook' || /.Event$/.test(name);
}

/** The paths of everything in a schema that consists of nothing further. */
function fieldsOf(schema: Schema, path: string): string[] {
  const { $ref, not, anyOf, oneOf, items, properties } = schema;
  if (not !== undefined) return [];
  const name = $ref?.split('/').at(-1);
  if (name !== undefined) return isPart(name) ? fieldsOf(schemas[name] ?? {}, path) : [path];
  const choices = anyOf ?? oneOf ?? (items && [items]);
  if (choices !== undefined) return choices.flatMap((choice) => fieldsOf(choice, path));
  if (properties === undefined) return [path];
  return Object.entries(properties).flatMap(([member, inner]) => fieldsOf(inner, `${path}.${member}`));
}
