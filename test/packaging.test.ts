import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageRoot } from './support/child-program.ts';

const TIMEOUT_MS = 180_000;
const manifest = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
const subpaths = Object.keys(manifest.exports).filter((path) => !path.endsWith('.json'));
const specifiers = subpaths.map((path) => path.replace('.', 'posthorn'));

let project: string;
let tarball: string;

function run(command: string, args: readonly string[], cwd: string): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'posthorn-package-'));
  const output = run(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', project],
    packageRoot,
  );
  tarball = join(project, JSON.parse(output)[0].filename);
  writeFileSync(join(project, 'package.json'), '{"private":true}');
  run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', tarball], project);
}, TIMEOUT_MS);

afterAll(() => rmSync(project, { recursive: true }));

describe('the packed tarball, installed in an empty project', () => {
  test('brings no optional peer along', () => {
    expect(existsSync(join(project, 'node_modules', 'posthorn', 'dist', 'src', 'index.js'))).toBe(true);
    expect(existsSync(join(project, 'node_modules', 'express'))).toBe(false);
  });

  test.each(specifiers)('%s imports from ESM and by require', (specifier) => {
    const names = `(exports) => console.log(Object.keys(exports).sort().join())`;
    const imported = run(
      'node',
      ['--input-type=module', '-e', `import(${JSON.stringify(specifier)}).then(${names})`],
      project,
    );
    const required = run(
      'node',
      ['--input-type=commonjs', '--no-warnings', '-e', `(${names})(require(${JSON.stringify(specifier)}))`],
      project,
    );
    expect(imported.trim()).not.toBe('');
    expect(required.replace(/__esModule,|module\.exports,/, '')).toBe(imported);
  });

  test('holds the interface as OpenAPI', () => {
    const program = `console.log(require('posthorn/openapi.json').openapi)`;
    expect(run('node', ['--input-type=commonjs', '-e', program], project)).toBe('3.1.1\n');
  });

  test('handles an event', () => {
    const program = `
      import { createServer } from 'node:http';
      import { createReceiver } from 'posthorn';
      import { toNode } from 'posthorn/node';
      import { createEvent, deliver } from 'posthorn/testing';
      const receiver = createReceiver({ signingKey: 'k' }).on('*', () => {});
      const server = createServer(toNode(receiver)).listen(0, async () => {
        const url = 'http://127.0.0.1:' + server.address().port;
        const response = await deliver(url, createEvent('transfer.created'), { key: 'k' });
        console.log((await response.json()).outcome);
        server.close();
      });`;
    expect(run('node', ['--input-type=module', '-e', program], project)).toBe('processed\n');
  });

  test('its program says how to install the package that it needs', () => {
    const program = join(project, 'node_modules', '.bin', 'posthorn');
    const { status, stderr } = spawnSync(program, ['--version'], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringContaining('npm install "commander@'),
    });
  });

  test('its types compile in a strict project without those of Express', () => {
    writeFileSync(
      join(project, 'use.ts'),
      specifiers
        .map((specifier, index) => `import * as m${index} from '${specifier}'; void m${index};`)
        .join('\n'),
    );
    const tsc = join(packageRoot, 'node_modules', '.bin', 'tsc');
    const typeRoots = join(packageRoot, 'node_modules', '@types');
    run(
      tsc,
      ['--noEmit', '--strict', '--module', 'nodenext', '--typeRoots', typeRoots, '--types', 'node', 'use.ts'],
      project,
    );
  });

  test.each(['ioredis', 'ioredis-5'])('its types take clients of %s in the strictest project', (name) => {
    const ioredis = join(packageRoot, 'node_modules', name, 'built', 'index.js');
    writeFileSync(
      join(project, 'clients.ts'),
      `import { Cluster, Redis } from ${JSON.stringify(ioredis)};
      import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';
      class Wrapper {
        status = 'ready';
        options = { url: 'redis://' };
        async eval(): Promise<unknown> { return undefined; }
        async evalsha(): Promise<unknown> { return undefined; }
        disconnect(): void {}
      }
      for (const client of [new Redis(), new Cluster([]), new Wrapper()]) {
        createRedisStore(client, { scope: 'a' });
        createRedisDeadLetters(client, { scope: 'a' });
      }`,
    );
    const tsc = join(packageRoot, 'node_modules', '.bin', 'tsc');
    const typeRoots = join(packageRoot, 'node_modules', '@types');
    const strictest = [
      '--strict',
      '--exactOptionalPropertyTypes',
      '--noUncheckedIndexedAccess',
      '--skipLibCheck',
    ];
    const options = ['--noEmit', '--module', 'nodenext', '--typeRoots', typeRoots, '--types', 'node'];
    run(tsc, [...options, ...strictest, 'clients.ts'], project);
  });
});

describe('the package is well formed', () => {
  test('publint is clean', { timeout: TIMEOUT_MS }, () => {
    run('node_modules/.bin/publint', ['run', tarball, '--strict'], packageRoot);
  });

  test('attw is clean with its esm-only profile', { timeout: TIMEOUT_MS }, () => {
    run('node_modules/.bin/attw', [tarball, '--profile', 'esm-only'], packageRoot);
  });
});
