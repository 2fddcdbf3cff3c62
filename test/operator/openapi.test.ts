import { createReceiver } from 'posthorn';
import { toOperator } from 'posthorn/operator';
import { expect, test } from 'vitest';
import { KEY } from '../support/served.ts';

async function readDocument(): Promise<{ readonly text: string; readonly components: object }> {
  const receiver = createReceiver({ signingKey: KEY });
  const operator = toOperator(receiver, { path: '/operator', authorize: () => ({ name: 'anna' }) });
  const answer = await operator(new Request('http://localhost/operator/api/openapi.json'));
  const text = await answer.text();
  return { text, components: JSON.parse(text).components.schemas };
}

test('each reference of the OpenAPI document leads to a component of it, and each component is used', async () => {
  const { text, components } = await readDocument();
  const references = Array.from(text.matchAll(/"\$ref":"([^"]+)"/g), ([, reference]) => reference);
  const names = Object.keys(components).map((name) => `#/components/schemas/${name}`);
  expect([...new Set(references)].sort()).toEqual(names.sort());
  expect(names).toContain('#/components/schemas/DeadLetterSummary');
});

test('a component is a schema, and not a reference to one', async () => {
  const { components } = await readDocument();
  for (const [name, schema] of Object.entries(components))
    expect(Object.keys(schema), name).not.toContain('$defs');
  expect(components).toMatchObject({ LetterDeed: { properties: { ids: { type: 'array' } } } });
});
