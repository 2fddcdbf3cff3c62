import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';
import { linkPackage } from '../support/installed-package.ts';
import { snippetWith } from '../support/snippet.ts';
import { nodeProgram } from './runtime.ts';

const VERSION = '4.20260426.0';
/** From this date, which docs/runtimes.md names, a request may wait for the promise of another one. */
const COMPATIBILITY_DATE = '2024-10-14';

test('in workerd, requests wait for each other, and what a request has begun goes on after its answer', () => {
  const { project, remove } = linkPackage('--ignore-scripts', `miniflare@${VERSION}`, 'esbuild@0.28.2');
  onTestFinished(remove);
  const manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  writeFileSync(join(project, 'package.json'), JSON.stringify({ ...manifest, type: 'module' }));
  for (const name of ['worker.js', 'run.js']) {
    copyFileSync(join(packageRoot, 'test', 'matrix', 'projects', 'workers', name), join(project, name));
  }
  writeFileSync(
    join(project, 'snippet.js'),
    snippetWith('export default { fetch: toFetch', 'docs/adapters.md'),
  );
  // Miniflare needs Node.js 22.
  const runtime = nodeProgram('22.23.3');
  const options = { cwd: project, encoding: 'utf8', timeout: 120_000 } as const;
  const output = execFileSync(runtime, ['run.js', COMPATIBILITY_DATE], options);
  const { bytes, compressedBytes, ...outcomes } = JSON.parse(output.slice(output.indexOf('{')));
  // As docs/runtimes.md says.
  expect(bytes).toBeLessThanOrEqual(198_000);
  expect(compressedBytes).toBeLessThanOrEqual(67_000);
  expect(outcomes).toEqual({
    keyNeverCame: '503 keys_unavailable',
    snippets: { '2024-10-14': '503 keys_unavailable', '2025-04-01': '200 processed' },
    processed: '200 processed',
    duplicate: '200 duplicate',
    concurrent: ['200 duplicate', '200 duplicate', '200 processed'],
    together: ['200 processed'],
    forged: '403 signature_mismatch',
    tooLarge: '413 body_too_large',
    empty: '400 body_not_json',
    wrongMethod: '405 method_not_allowed',
    late: ['503 deadline_reached', '503 event_running'],
    lateEnd: 'processed',
    afterIt: '200 duplicate',
    endedWithItsRequest: '503 deadline_reached',
    joined: '503 event_running',
    operated: {
      waiting: 1,
      stranger: 'forbidden',
      failing: 'forbidden',
      foreign: 'origin_foreign',
      replayed: ['processed'],
      document: '3.1.1',
      latest: 'replay',
      page: '200 text/html; charset=utf-8',
      script: '200 text/javascript; charset=utf-8',
    },
    warnings: [
      expect.stringMatching(/^memory_store_shared: .*share a store: createD1Store of posthorn\/d1$/),
    ],
  });
});

test('docs/runtimes.md names what was run', () => {
  const text = readFileSync(join(packageRoot, 'docs', 'runtimes.md'), 'utf8');
  expect(text).toContain(`Miniflare ${VERSION}`);
  expect(text).toContain(COMPATIBILITY_DATE);
});
