import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../support/child-program.ts';
import { exportsOfBuilds } from '../../support/exports-of-builds.ts';

test('posthorn/bullmq loads as ESM and as CommonJS', () => {
  const names = ['createBullQueue', 'createBullWorker', 'migrateBullQueue'];
  expect(exportsOfBuilds('posthorn/bullmq')).toEqual([names, names]);
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
