import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
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
  const read = (name: string): string =>
    readFileSync(join(packageRoot, 'dist', 'src', 'bullmq', name), 'utf8').replaceAll(".ts'", ".d.ts'");
  const seen = new Set(['index.d.ts']);
  for (const name of seen) {
    for (const [, next = ''] of read(name).matchAll(/from '\.\/([^']+)'/g)) seen.add(next);
    expect(read(name), name).not.toMatch(/from 'bullmq'/);
  }
  expect([...seen].sort()).toEqual(['connection.d.ts', 'index.d.ts', 'queue.d.ts', 'worker.d.ts']);
});
