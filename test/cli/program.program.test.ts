import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { packageRoot, startProgram } from '../support/child-program.ts';
import { type CopiedPackage, copyPackage } from '../support/copied-package.ts';
import { refusal } from './ended.ts';
import { directoryOf, letter } from './letters.ts';
import { posthorn, posthornProcess } from './posthorn.ts';

const commands = [
  'demo',
  'dev',
  'trigger',
  'deliveries',
  'advance',
  'sandbox',
  'listen',
  'send',
  'verify',
  'dead-letters list',
  'dead-letters show',
  'dead-letters replay',
  'dead-letters drop',
  'events list',
  'events show',
  'events prune',
  'events accept',
  'events rerun',
  'operator',
  'ids import',
  'webhooks list',
  'webhooks show',
  'webhooks create',
  'webhooks update',
  'webhooks enable',
  'webhooks disable',
  'webhooks ensure',
  'webhooks rotate',
  'fx-quotes create',
  'fx-quotes retrieve',
  'e-checks find',
  'lists payment-purposes',
  'lists currencies',
];

/** A module that prints the address of each file that is imported. */
const hook = `
  import { writeSync } from 'node:fs';
  export async function load(url, context, next) {
    writeSync(1, url + '\\n');
    return next(url, context);
  }`;
const tracing = registering(hook);

/** Yarn Plug'n'Play's error for a peer that the application does not give. */
const plugAndPlay = registering(`
  export async function resolve(name, context, next) {
    if (!/^(ioredis|redis|pg|bullmq)(?=\\/|$)/.test(name)) return next(name, context);
    const error = new Error('posthorn tried to access ' + name + ' (a peer dependency)');
    throw Object.assign(error, { code: 'MODULE_NOT_FOUND', pnpCode: 'MISSING_PEER_DEPENDENCY' });
  }`);

function registering(code: string): string {
  return dataUrl(`import { register } from 'node:module'; register(${JSON.stringify(dataUrl(code))});`);
}

function dataUrl(code: string): string {
  return `data:text/javascript,${encodeURIComponent(code)}`;
}

describe('posthorn', () => {
  test('lists its commands and exit codes', async () => {
    const { code, stdout, stderr } = await posthorn(['--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const command of commands)
      expect(stdout).toMatch(new RegExp(`^ {2}${command.replace(/ .*/, '')} `, 'm'));
    expect(stdout).toMatch(/Exit codes:\n {2}0 .*\n {2}1 .*\n {2}2 .*\n {2}3 /);
  });

  test.each(commands)('%s --help has examples, exit codes and --json', async (command) => {
    const { code, stdout, stderr } = await posthorn([...command.split(' '), '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(await posthorn(['help', ...command.split(' ')])).toEqual({ code, stdout, stderr });
    expect(stdout).toContain(`Usage: posthorn ${command} `);
    expect(stdout).toContain(' --json ');
    expect(stdout).toMatch(/\nExit codes:/);
    expect(stdout).toMatch(new RegExp(`\nExamples:\n[^]* {2}\\$ (.* )?posthorn ${command}\\b`));
  });

  test('the environment is not printed by --help', async () => {
    const { stdout } = await posthorn(['listen', '--help'], { env: { SIGNING_KEY: 'hidden' } });
    expect(stdout).toContain('SIGNING_KEY');
    expect(stdout).not.toContain('hidden');
  });

  test('--version is that of the package', async () => {
    expect(await posthorn(['--version'])).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' });
  });

  test.each([
    {
      command: 'verify',
      rooms: ['src/cli', 'src/receiver/authentication'],
      others: /src\/(service\/(?!client\/service-error)|stores\/[^/]+\/)|\/zod\//,
    },
    {
      command: 'webhooks',
      rooms: ['src/cli', 'src/service/client'],
      others: /src\/(service\/sandbox|stores\/[^/]+)\//,
    },
    {
      command: 'dead-letters',
      rooms: ['src/cli'],
      others: /src\/(service\/(?!client\/service-error)|stores\/(?!file|kit)[^/]+\/)/,
    },
    {
      command: 'events',
      rooms: ['src/cli'],
      others: /src\/(service\/(?!client\/service-error)|stores\/(?!memory|kit)[^/]+\/)/,
    },
    {
      command: 'operator',
      rooms: ['src/cli', 'src/operator'],
      others: /src\/(service\/(?!client\/service-error|sandbox\/host)|stores\/(?!memory|kit)[^/]+\/)/,
    },
  ])('$command loads no module of another command, which would make it slower', async (tested) => {
    const { command, rooms, others } = tested;
    const { stdout } = await posthornProcess([command, '--help'], {
      env: { NODE_OPTIONS: `--import=${tracing}` },
    });
    const loaded = stdout.split('\n').filter((line) => line.startsWith('file:'));
    for (const room of rooms) expect(loaded.join()).toContain(`/dist/${room}/`);
    expect(loaded.filter((url) => others.test(url))).toEqual([]);
  });

  test('without a command it prints its help to stderr, exit code 2', async () => {
    const { code, stdout, stderr } = await posthorn([]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Usage: posthorn');
  });

  test.each([
    { args: ['lsten'], message: "posthorn: unknown command 'lsten'\n(Did you mean listen?)\n" },
    { args: ['dead-letters', 'lits'], message: "posthorn: unknown command 'lits'\n(Did you mean list?)\n" },
    {
      args: ['listen', '--kee', 'hidden'],
      message: "posthorn: unknown option '--kee'\n(Did you mean --key?)\n",
    },
    {
      args: ['dead-letters', '--dynamodb', 'hidden', '--scope', 'y'],
      message:
        'posthorn: --dynamodb stands after the name of a command: ' +
        'posthorn dead-letters list --dynamodb … (or show, replay, drop)\n',
    },
    {
      args: ['dead-letters', '--scope=hidden', 'list'],
      message:
        'posthorn: --scope stands after the name of a command: ' +
        'posthorn dead-letters list --scope … (or show, replay, drop)\n',
    },
    {
      args: ['d1', '--from', '1', 'sql'],
      message: 'posthorn: --from stands after the name of a command: posthorn d1 sql --from …\n',
    },
    {
      args: ['--scope', 'hidden', 'dead-letters', 'list'],
      message:
        'posthorn: --scope stands after the name of a command: ' +
        'posthorn dead-letters list --scope … (or show, replay, drop)\n',
    },
    { args: ['--odd', 'dead-letters', 'list'], message: "posthorn: unknown option '--odd'\n" },
    { args: ['dead-letters', '--odd', 'list'], message: "posthorn: unknown option '--odd'\n" },
  ])('$args gets a suggestion, exit code 2', async ({ args, message }) => {
    expect(await posthorn(args)).toEqual({ code: 2, stdout: '', stderr: message });
  });

  const service = ['POSTHORN_BASE_URL', 'POSTHORN_USERNAME', 'POSTHORN_PASSWORD'];
  test.each([
    { args: ['webhooks', 'list'], named: service },
    {
      args: ['webhooks', 'create', 'https://a/', '--authentication', 'basic'],
      named: [...service, 'BASIC_USERNAME', 'BASIC_PASSWORD'],
    },
    {
      args: ['webhooks', 'update', 'WH1', '--authentication', 'bearer'],
      named: [...service, 'BEARER_TOKEN'],
    },
    { args: ['webhooks', 'rotate', 'WH1', '--resume', 'WH2'], named: [...service, 'NEW_SIGNING_KEY'] },
    {
      args: ['fx-quotes', 'retrieve', '5001'],
      named: ['POSTHORN_BASE_URL', 'POSTHORN_BANKING_TOKEN', 'POSTHORN_API_KEY'],
    },
    { args: ['lists', 'currencies'], named: ['POSTHORN_BASE_URL', 'POSTHORN_ACCESS_TOKEN'] },
    {
      args: ['send', 'transfer.succeeded', '--to', 'http://127.0.0.1:2/'],
      env: { BASIC_USERNAME: 'billing' },
      named: ['SIGNING_KEY', 'BASIC_PASSWORD'],
    },
    { args: ['listen'], env: { BASIC_PASSWORD: 'hidden' }, named: ['SIGNING_KEY', 'BASIC_USERNAME'] },
  ])('$args names all variables that are missing at once', async ({ args, env = {}, named }) => {
    const { code, stdout, stderr } = await posthorn(args, { env });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.split('\n')).toHaveLength(2);
    expect(named.filter((name) => !stderr.includes(name))).toEqual([]);
    expect(stderr).not.toContain('hidden');
  });

  test('colours are for a terminal: not in a pipe, and never with --json', async () => {
    const directory = await directoryOf([letter('evt_1')]);
    const list = ['dead-letters', 'list', '--dir', directory];
    const colour = '\u001b[';
    expect((await posthorn(list)).stdout).not.toContain(colour);
    // What a terminal would get.
    const env = { FORCE_COLOR: '1' };
    expect((await posthorn(list, { env })).stdout).toContain(colour);
    expect((await posthorn([...list, '--json'], { env })).stdout).not.toContain(colour);
  });

  test('a reader that has seen enough, such as head, ends it without a stack', async () => {
    const letters = Array.from({ length: 50 }, (_, n) => letter(`evt_${n}`, { message: 'x'.repeat(10_000) }));
    const directory = await directoryOf(letters);
    const bin = join(packageRoot, 'dist', 'src', 'cli', 'bin.js');
    const command = `'${process.execPath}' '${bin}' dead-letters list --dir '${directory}' | head -c 10`;
    const { stdout, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
    expect({ length: stdout.length, stderr }).toEqual({ length: 10, stderr: '' });
  });
});

describe('where optional packages are not installed', () => {
  let copied: CopiedPackage;
  let program: string;
  beforeAll(() => {
    copied = copyPackage();
    program = join(copied.root, 'dist', 'src', 'cli', 'bin.js');
  });
  afterAll(() => copied.remove());

  test('the sandbox works', async () => {
    const env = { PATH: process.env.PATH };
    const sandbox = startProgram(program, env, packageRoot, ['sandbox', '--port', '0']);
    await sandbox.line(/http:\/\/127\.0\.0\.1:\d+/);
    sandbox.kill('SIGINT');
    expect(await sandbox.exit).toBe(0);
  });

  test('what needs Redis says how to install each client, and which way needs none of them', async () => {
    const env = { REDIS_URL: 'redis://127.0.0.1:1' };
    expect(await posthorn(['dead-letters', 'list', '--scope', 'a'], { program, env })).toEqual(
      refusal(
        2,
        'posthorn: this needs the package ioredis or redis, and none of them is installed: ' +
          'npm install "ioredis@^5.11.0 || ^6.0.0" or npm install "redis@^5.0.0 || ^6.0.0"; ' +
          'or give --receiver alone, whose module has a client of its own (package_missing)\n',
      ),
    );
  });

  test('what needs PostgreSQL says how to install pg', async () => {
    expect(await posthorn('postgres migrate --url postgres://127.0.0.1:1/', { program })).toEqual(
      refusal(2, expect.stringMatching(/ pg, .*: npm install "pg@\^8\.11\.0" \(package_missing\)\n$/)),
    );
  });

  test('what needs a queue says how to install bullmq', async () => {
    expect(await posthorn('postgres migrate --queue --url postgres://127.0.0.1:1/', { program })).toEqual(
      refusal(
        2,
        'posthorn: this needs the package bullmq, which is not installed: ' +
          'npm install "bullmq@^6.7.0" (package_missing)\n',
      ),
    );
  });
});

test.each([
  ['pg', 'dead-letters list --postgres postgres://127.0.0.1:1/x --scope s'],
  ['pg', 'postgres migrate --url postgres://127.0.0.1:1/x'],
  ['bullmq', 'postgres migrate --queue --url postgres://127.0.0.1:1/x'],
  ['redis', 'dead-letters list --redis redis://127.0.0.1:1 --scope s'],
])("under Plug'n'Play the lack of %s names the command that installs it: %s", async (name, command) => {
  const env = { NODE_OPTIONS: `--no-warnings --import ${plugAndPlay}` };
  const message = new RegExp(` npm install "${name}@.* \\(package_missing\\)\\n$`);
  expect(await posthornProcess(command, { env })).toEqual(refusal(2, expect.stringMatching(message)));
});

test('the built program begins with a line for the shell', () => {
  const { posthorn: bin } = manifest.bin;
  const { stdout } = spawnSync('head', ['-1', join(packageRoot, bin)], { encoding: 'utf8' });
  expect(stdout).toBe('#!/usr/bin/env node\n');
});
