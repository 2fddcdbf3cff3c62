import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

test.each([
  ['for (const name in headers) names.push(name);', /`for … in` also visits/],
  ['for (const name of Object.keys(headers)) names.push(name);', undefined],
  ['if (headers instanceof Uint8Array) names.push("bytes");', /a value of another realm/],
  ['if (headers instanceof ReceiverError) names.push("ours");', undefined],
])('the linter judges "%s" in src', (line, refused) => {
  const folder = join(temporaryDirectory(packageRoot), 'src');
  mkdirSync(folder);
  writeFileSync(join(folder, 'line.ts'), `${line}\n`);
  const biome = join(packageRoot, 'node_modules', '.bin', 'biome');
  const linted = spawnSync(biome, ['lint', folder], { cwd: packageRoot, encoding: 'utf8' });
  expect(linted.stderr).toMatch(refused ?? /^$/);
  expect(linted.status).toBe(refused ? 1 : 0);
});
