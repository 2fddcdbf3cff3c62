import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createEvent, deliver, signedHeaders } from 'posthorn/testing';
import { expect, onTestFinished } from 'vitest';
import { headOf, RawConnection } from '../adapters/raw-connection.ts';
import { expectReplayed, type Posthorn, parkedEvent } from '../examples/dead-letter-commands.ts';
import { type ChildProgram, packageRoot, startCommand } from '../support/child-program.ts';
import { packed } from '../support/installed-package.ts';
import { npmInstall } from '../support/packed-project.ts';
import { until } from '../support/until.ts';
import { nodeProgram } from './runtime.ts';

/** A folder of `examples/` with a package.json of its own, with its packages in place and built. */
export interface ExampleProject {
  readonly folder: string;
  /** Starts it, and resolves once it listens. A test can start it several times. */
  readonly start: (options?: StartOptions) => Promise<RunningExample>;
}

export interface StartOptions {
  /** Set besides `SIGNING_KEY`, or instead of `PORT=0`. */
  readonly environment?: NodeJS.ProcessEnv;
  /** The line that tells the address, as its first group. */
  readonly listening?: RegExp;
  /** Where deliveries go at that address, which may have a path already. */
  readonly path?: string;
  /** The command that runs the program `posthorn`; by default `node`. */
  readonly runtime?: string;
}

export interface RunningExample {
  readonly program: ChildProgram;
  /** Where deliveries go. */
  readonly url: string;
  /** The signing key of the example. */
  readonly key: string;
  /** The packed program, in the environment of the example. */
  readonly posthorn: Posthorn;
  /** Sends SIGTERM, and resolves with the exit code. */
  readonly stop: () => Promise<number | null>;
}

/** The signing key of the examples. */
export const KEY = 'whsec_of_the_examples';

export interface ExampleOptions {
  /** Replace or join the packages that it names. */
  readonly packages?: readonly string[];
  /** The version of Node.js that it needs, if it is another than that of the tests. */
  readonly node?: string;
  /** Of its modules, instead of that in its package.json. */
  readonly type?: 'module' | 'commonjs';
  /** Files that join or replace its own before it is built: texts by paths in its folder. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Copies `examples/<name>`, installs the packed package and its other dependencies, and builds it. */
export function openExample(name: string, options?: ExampleOptions): ExampleProject {
  const folder = mkdtempSync(join(tmpdir(), `posthorn-example-${name}-`));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { start: script = '' } = layOutExample(folder, name, options);
  return { folder, start: (given) => start(folder, script, given) };
}

/** Does the same in a folder; returns the scripts of its package.json. */
export function layOutExample(
  folder: string,
  name: string,
  { packages = [], node, type, files = {} }: ExampleOptions = {},
): Readonly<Record<string, string>> {
  const source = join(packageRoot, 'examples', name);
  // What somebody has installed or built there stays out: that would hide what package.json lacks.
  const made = ['node_modules', 'dist', '.next', 'dead-letters'].map((made) => join(source, made));
  cpSync(source, folder, { recursive: true, filter: (path) => !made.includes(path) });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  npmInstall(folder, packed().tarball, ...packages);
  if (node !== undefined) symlinkSync(nodeProgram(node), join(folder, 'node_modules', '.bin', 'node'));
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (type !== undefined) writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, type }));
  const { scripts = {} } = manifest;
  if (scripts.build !== undefined) build(folder);
  return scripts;
}

function build(folder: string): void {
  const { status, stdout, stderr } = spawnSync('npm', ['run', 'build'], { cwd: folder, encoding: 'utf8' });
  expect(status, stdout + stderr).toBe(0);
}

/** Runs what `npm start` runs, without npm, which hands a signal to the shell alone. */
async function start(folder: string, script: string, options: StartOptions = {}): Promise<RunningExample> {
  const { environment, listening = /^listening on (http:\S+)$/, path = '/webhooks', runtime } = options;
  const env = {
    PATH: [join(folder, 'node_modules', '.bin'), process.env.PATH].join(delimiter),
    PORT: '0',
    ...environment,
    SIGNING_KEY: KEY,
  };
  const program = startCommand('sh', ['-c', `exec ${script}`], env, folder);
  onTestFinished(async () => {
    program.kill('SIGKILL');
    await program.exit;
  });
  const [, address = ''] = listening.exec(await program.line(listening)) ?? [];
  const stop = (): Promise<number | null> => {
    program.kill('SIGTERM');
    return program.exit;
  };
  const url = new URL(path, address);
  // A receiver module that listened would find the port taken.
  const posthorn = packedPosthorn(folder, { ...env, PORT: url.port }, runtime);
  return { program, url: url.href, key: KEY, posthorn, stop };
}

/** What every example must answer, with the default of `maxBodyBytes`. */
export async function expectDeliveries({ url, key }: Pick<RunningExample, 'url' | 'key'>): Promise<void> {
  const event = createEvent('transfer.succeeded', { id: 'TR_example', amount: 1250 });
  expect(await answerOf(deliver(url, event, { key }))).toEqual([200, 'processed']);
  expect(await answerOf(deliver(url, event, { key }))).toEqual([200, 'duplicate']);
  expect(await answerOf(deliver(url, event, { key: 'forged' }))).toEqual([403, 'signature_mismatch']);
  const oversized = createEvent('transfer.succeeded', { tags: { note: 'x'.repeat(1_048_576) } });
  expect(await answerOf(deliver(url, oversized, { key }))).toEqual([413, 'body_too_large']);
  expect(await answerOf(fetch(url))).toEqual([405, 'method_not_allowed']);
}

async function answerOf(answer: Promise<Response>): Promise<[status: number, outcomeOrCode: unknown]> {
  const response = await answer;
  const { outcome, code } = JSON.parse(await response.text());
  return [response.status, outcome ?? code];
}

/**
 * Sends SIGTERM in the middle of a delivery. New deliveries are refused then, and this one is answered 200;
 * resolves with the exit code.
 */
export async function stopInDelivery({
  url,
  key,
  stop,
}: Omit<RunningExample, 'posthorn'>): Promise<number | null> {
  const body = JSON.stringify(createEvent('transfer.succeeded', { id: 'TR_running', amount: 1 }));
  const connection = await RawConnection.open(url);
  const headers = {
    ...signedHeaders(body, { key }),
    'content-length': `${body.length}`,
    expect: '100-continue',
  };
  connection.write(headOf(url, headers) + body.slice(0, 10));
  // Node.js sends it when it calls the application.
  expect(await connection.interim()).toMatchObject({ status: 100 });
  const stopped = stop();
  await until('new deliveries to be refused', () => isRefused(url, key));
  const answer = await connection.write(body.slice(10)).answer();
  expect([answer.status, JSON.parse(answer.body)]).toMatchObject([200, { outcome: 'processed' }]);
  return stopped;
}

/** Delivers on a connection of its own, because a server that closes may serve those that are open. */
async function isRefused(url: string, key: string): Promise<boolean> {
  const body = JSON.stringify(createEvent('transfer.created'));
  const headers = {
    ...signedHeaders(body, { key }),
    'content-length': `${body.length}`,
    connection: 'close',
  };
  try {
    const connection = await RawConnection.open(url);
    return (await connection.write(headOf(url, headers) + body).answer()).status === 503;
  } catch {
    return true;
  }
}

/** The program of the package that is installed in a folder. */
export function packedPosthorn(folder: string, env: NodeJS.ProcessEnv, runtime = 'node'): Posthorn {
  const program = join(folder, 'node_modules', 'posthorn', 'dist', 'src', 'cli', 'bin.js');
  return (args) => startCommand(runtime, [program, ...args], { PATH: process.env.PATH, ...env }, folder);
}

/** Parks an event, and replays it by the packed program with the receiver module of the example. */
export async function expectDeadLetters(
  { url, key, posthorn }: RunningExample,
  module = './receiver.js',
): Promise<void> {
  const parked = parkedEvent();
  expect(await answerOf(deliver(url, parked, { key }))).toEqual([200, 'parked']);
  await expectReplayed(posthorn, module, parked.id);
}

/** What a route `/echo` of the same application must answer: its JSON, which the framework has parsed. */
export async function expectEcho({ url }: Pick<RunningExample, 'url'>): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(new URL('/echo', url), { method: 'POST', headers, body: '{ "a": [1] }' });
  expect(await answer.text()).toBe('{"a":[1]}');
}

/** Checks the deliveries, the dead letters and the echo of an example, up to its end by SIGTERM. */
export async function expectExample(
  example: RunningExample,
  { module, exitCode = 0 }: { readonly module?: string; readonly exitCode?: number | null } = {},
): Promise<void> {
  await expectDeliveries(example);
  await expectDeadLetters(example, module);
  await expectEcho(example);
  expect(await stopInDelivery(example)).toBe(exitCode);
}
