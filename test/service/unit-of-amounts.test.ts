import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';

/** What users read: sources with their comments, documentation, examples and the OpenAPI document. */
const published = ['src', 'adapters', 'docs', 'examples']
  .flatMap((folder) =>
    readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' }).map(
      (name) => `${folder}/${name}`,
    ),
  )
  .filter((name) => /\.(ts|md)$/.test(name))
  .concat('README.md', 'openapi.json');

// A wrong unit is a payment that is wrong by a factor of 100 or 1,000. The interface says "integer", no more.
test('nothing claims to know the unit of the amount of an event', () => {
  expect(published.length).toBeGreaterThan(100);
  const claims = published.flatMap((name) =>
    readFileSync(join(packageRoot, name), 'utf8')
      .split('\n')
      .filter((line) =>
        /\b(smallest|minor|subunits?|base) units?\b|\bsmallest denomination|\bcents?\b/i.test(line),
      )
      .map((line) => `${name}: ${line.trim()}`),
  );
  expect(claims).toEqual([]);
});
