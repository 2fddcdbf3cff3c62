import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';

function run(...args: readonly string[]): string {
  return execFileSync(process.execPath, args, { cwd: packageRoot, encoding: 'utf8' }).trim();
}

test('posthorn/bullmq loads as ESM and as CommonJS', () => {
  const names = '(exports) => console.log(Object.keys(exports).sort().join())';
  const imported = run('--input-type=module', '-e', `import('posthorn/bullmq').then(${names})`);
  const required = run('--input-type=commonjs', '-e', `(${names})(require('posthorn/bullmq'))`);
  expect([imported, required]).toEqual(Array(2).fill('createBullQueue,createBullWorker'));
});

test('its types need no types of BullMQ', () => {
  const folder = join(packageRoot, 'dist', 'src', 'bullmq');
  const declarations = readdirSync(folder).filter((name) => name.endsWith('.d.ts'));
  expect(declarations).toContain('index.d.ts');
  for (const name of declarations)
    expect(readFileSync(join(folder, name), 'utf8'), name).not.toMatch(/from 'bullmq'/);
});
