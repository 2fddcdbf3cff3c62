import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';

const tools = join(packageRoot, 'tools', 'api');
let folder: string;
let written: { readonly status: number | null; readonly output: string };

function run(command: string, args: readonly string[]): typeof written {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: tools, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'posthorn-api-'));
  const installed = run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']);
  expect(installed.status, installed.output).toBe(0);
  written = run('node', ['write.js', folder]);
});

afterAll(() => rmSync(folder, { recursive: true }));

test('every public symbol has a doc comment, and every link of one leads somewhere', () => {
  expect(written.status, written.output).toBe(0);
});

const filesOf = (root: string, path: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(join(root, path)).map((name) => [name, readFileSync(join(root, path, name), 'utf8')]),
  );

test('docs/api has a page for each subpath', () => {
  const pages = Object.keys(filesOf(folder, 'docs/api'));
  const reports = Object.keys(filesOf(folder, 'tools/api/report')).map((name) => name.replace('.api', ''));
  expect(pages.sort()).toEqual(['README.md', ...reports].sort());
});

test('tools/api/report is what `npm run api` writes', () => {
  const checkedIn = filesOf(packageRoot, 'tools/api/report');
  expect(Object.keys(checkedIn)).not.toEqual([]);
  expect(checkedIn, 'the public surface has changed: run npm run api, and read the difference').toEqual(
    filesOf(folder, 'tools/api/report'),
  );
});
