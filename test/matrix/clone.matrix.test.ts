import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { packageRoot, startGroup } from '../support/child-program.ts';

// In these tests npm runs the scripts of package.json, as it does for a user: `npm ci` in a clone builds by
// `postprepare`, and so does `npm install` of an address of git.
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'posthorn-clone-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

const quietly = ['--no-audit', '--no-fund', '--prefer-offline'];

function run(cwd: string, command: string, ...args: readonly string[]): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: 'pipe' });
}

test('npm ci && npm start in a clone start the demo', async () => {
  const clone = join(folder, 'clone');
  run(folder, 'git', 'clone', '--quiet', packageRoot, clone);
  run(clone, 'npm', 'ci', ...quietly);
  const demo = startGroup('npm', ['start', '--', '--port', '0'], process.env, clone);
  onTestFinished(() => demo.kill('SIGKILL'));
  await demo.line(/^listening on /);
  const [letters = ''] = /(?<=dead letters in )[^)]+/.exec(await demo.line(/dead letters in /)) ?? [];
  onTestFinished(() => rmSync(letters, { recursive: true }));
  demo.kill('SIGINT');
  await demo.exit;
}, 600_000);

test('npm install of an address of git installs what is built', () => {
  const project = join(folder, 'project');
  run(folder, 'mkdir', project);
  writeFileSync(join(project, 'package.json'), '{"private":true}');
  run(project, 'npm', 'install', ...quietly, `git+file://${packageRoot}`);
  const program = `import('posthorn').then(({ sign }) => console.log(sign('body', 'key').length))`;
  expect(run(project, 'node', '--eval', program)).toBe('64\n');
}, 600_000);
