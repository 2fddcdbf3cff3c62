import { execFileSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { d1Migration } from 'posthorn/d1';
import { expect, onTestFinished, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';
import { linkPackage } from '../support/installed-package.ts';
import { nodeProgram } from './runtime.ts';

const COMPATIBILITY_DATE = '2024-10-14';

test('in workerd, two Workers share a D1 database, also while workerd is killed and frozen', () => {
  const { project, remove } = linkPackage('--ignore-scripts', 'miniflare@4.20260426.0', 'esbuild@0.28.2');
  onTestFinished(remove);
  const manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  writeFileSync(join(project, 'package.json'), JSON.stringify({ ...manifest, type: 'module' }));
  writeFileSync(join(project, 'migration.sql'), d1Migration);
  for (const name of ['worker.js', 'run.js']) {
    copyFileSync(join(packageRoot, 'test', 'matrix', 'projects', 'd1', name), join(project, name));
  }
  // Miniflare needs Node.js 22.
  const runtime = nodeProgram('22.23.3');
  const options = { cwd: project, encoding: 'utf8', timeout: 240_000 } as const;
  const output = execFileSync(runtime, ['run.js', COMPATIBILITY_DATE], { ...options, stdio: 'pipe' });
  expect(JSON.parse(output)).toEqual({
    conformance: [],
    costs: {
      claim: 'claimed: 3 read, 2 written',
      renewal: 'held: 3 read, 1 written',
      busy: 'busy: 3 read, 0 written',
      completion: 'completed: 0 read, 1 written',
      duplicate: 'completed: 3 read, 0 written',
      key: 'claimed: 3 read, 2 written',
      keyReleased: 'released: 3 read, 1 written',
      keyAgain: 'claimed: 3 read, 1 written',
    },
    letters: {
      short: 'same, removed',
      long: 'same, removed',
      late: 'refused, missing',
      half: 'dead_letter_unreadable',
    },
    together: { processed: 40, duplicate: 120, handled: 40 },
    afterRestart: ['duplicate', 'duplicate'],
    storm: { events: 300, troubles: 4, lost: 0, handledAgain: 0 },
  });
});

test('the migrations of examples/worker-d1 are those that the package has', () => {
  const folder = join(packageRoot, 'examples', 'worker-d1', 'migrations');
  // The example has a table of its own beside them.
  const names = readdirSync(folder).filter((name) => name.endsWith('_posthorn.sql'));
  const texts = names.map((name) => readFileSync(join(folder, name), 'utf8'));
  expect(texts.join('')).toBe(d1Migration);
});

test('docs/d1.md names what was measured', () => {
  const text = readFileSync(join(packageRoot, 'docs', 'd1.md'), 'utf8');
  for (const rows of ['| 3 | 2 |', '| 3 | 1 |', '| 3 | 0 |', '| 0 | 1 |']) expect(text).toContain(rows);
});
