import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createEvent, deliver } from 'posthorn/testing';
import { expect, onTestFinished } from 'vitest';
import { type ChildProgram, packageRoot, startCommand } from '../support/child-program.ts';
import { npmInstall } from '../support/packed-project.ts';

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
}

export interface RunningExample {
  readonly program: ChildProgram;
  /** Where deliveries go. */
  readonly url: string;
  /** The signing key of the example. */
  readonly key: string;
  /** Sends SIGTERM, and resolves with the exit code. */
  readonly stop: () => Promise<number | null>;
}

/** The signing key of the examples. */
export const KEY = 'whsec_of_the_examples';

/**
 * Copies `examples/<name>`, installs the packed package and its other dependencies, and builds it. `packages`
 * replace or join those that it names.
 */
export function openExample(name: string, ...packages: readonly string[]): ExampleProject {
  const folder = mkdtempSync(join(tmpdir(), `posthorn-example-${name}-`));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const source = join(packageRoot, 'examples', name);
  // What somebody has installed or built there stays out: that would hide what package.json lacks.
  const made = ['node_modules', 'dist', '.next', 'dead-letters'].map((made) => join(source, made));
  cpSync(source, folder, { recursive: true, filter: (path) => !made.includes(path) });
  const { scripts = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  npmInstall(folder, pack(folder), ...packages);
  if (scripts.build !== undefined) build(folder);
  return { folder, start: (options) => start(folder, scripts.start, options) };
}

function pack(folder: string): string {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const output = execFileSync('npm', args, { cwd: packageRoot, encoding: 'utf8', stdio: 'pipe' });
  return join(folder, JSON.parse(output)[0].filename);
}

function build(folder: string): void {
  const { status, stdout, stderr } = spawnSync('npm', ['run', 'build'], { cwd: folder, encoding: 'utf8' });
  expect(status, stdout + stderr).toBe(0);
}

/** Runs what `npm start` runs, without npm, which hands a signal to the shell alone. */
async function start(folder: string, script: string, options: StartOptions = {}): Promise<RunningExample> {
  const { environment, listening = /^listening on (http:\S+)$/, path = '/webhooks' } = options;
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
  return { program, url: new URL(path, address).href, key: KEY, stop };
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

/** What a route `/echo` of the same application must answer: its JSON, which the framework has parsed. */
export async function expectEcho({ url }: Pick<RunningExample, 'url'>): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(new URL('/echo', url), { method: 'POST', headers, body: '{ "a": [1] }' });
  expect(await answer.text()).toBe('{"a":[1]}');
}
