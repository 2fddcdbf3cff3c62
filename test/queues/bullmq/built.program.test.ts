import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../support/child-program.ts';

test('posthorn/bullmq loads as ESM and as CommonJS', () => {
  const program = `
    import * as imported from 'posthorn/bullmq';
    import { createRequire } from 'node:module';
    const required = createRequire(import.meta.url)('posthorn/bullmq');
    for (const exports of [imported, required]) console.log(Object.keys(exports).sort().join());`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: packageRoot,
    encoding: 'utf8',
  });
  expect(printed).toBe('createBullQueue,createBullWorker,migrateBullQueue\n'.repeat(2));
});

test('its types need no types of BullMQ', () => {
  const read = (name: string): string =>
    readFileSync(join(packageRoot, 'dist', 'src', 'queues', 'bullmq', name), 'utf8').replaceAll(
      ".ts'",
      ".d.ts'",
    );
  const seen = new Set(['index.d.ts']);
  for (const name of seen) {
    for (const [, next = ''] of read(name).matchAll(/from '\.\/([^']+)'/g)) seen.add(next);
    expect(read(name), name).not.toMatch(/from 'bullmq'/);
  }
  expect([...seen].sort()).toEqual([
    'connection.d.ts',
    'index.d.ts',
    'postgres/migrate.d.ts',
    'queue.d.ts',
    'worker.d.ts',
  ]);
});
