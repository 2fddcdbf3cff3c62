import { catalog } from 'posthorn';
import { expect, test } from 'vitest';
import { readDocument } from '../support/documents.ts';

test('docs/handlers.md lists the types of the catalog', () => {
  const rows = readDocument('docs/handlers.md').text.matchAll(/^\| `(\w+)` \| ((?:`[\w.]+`(?:, )?)+) \|$/gm);
  const listed = Array.from(rows, ([, entity = '', types = '']) => [
    entity,
    types.split(', ').map((type) => type.slice(1, -1)),
  ]);
  expect(listed).toEqual(Object.entries(catalog));
});
