import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** The folder of its own into which better-sqlite3 is installed, once. */
export const driverFolder: string = fileURLToPath(new URL('driver/', import.meta.url));

/** Says what was installed, or why it failed. */
const STATE_FILE = join(driverFolder, '.installation.json');

interface Installation {
  readonly key: string;
  readonly failure?: string;
}

/** A binary serves one version of the interface of Node.js. */
function currentKey(): string {
  const lock = createHash('sha256').update(readFileSync(join(driverFolder, 'package-lock.json')));
  return `${process.versions.modules} ${process.arch} ${lock.digest('hex')}`;
}

function readInstallation(): Installation | undefined {
  return existsSync(STATE_FILE) ? JSON.parse(readFileSync(STATE_FILE, 'utf8')) : undefined;
}

function isInstalled(): boolean {
  const { key, failure } = readInstallation() ?? {};
  return key === currentKey() && failure === undefined && existsSync(join(driverFolder, 'node_modules'));
}

/**
 * Runs before all tests. Compiling takes a minute, so it goes on beside the first tests, and only those that
 * need it wait.
 */
export default function setup(): (() => void) | undefined {
  if (isInstalled()) return undefined;
  rmSync(STATE_FILE, { force: true });
  const installing = install();
  return () => void installing?.kill();
}

function install(): ChildProcess | undefined {
  const nodeDirectory = dirname(dirname(process.execPath));
  if (!existsSync(join(nodeDirectory, 'include', 'node', 'node.h'))) {
    end(`the headers of Node.js are missing: ${join(nodeDirectory, 'include', 'node')} is not there`);
    return undefined;
  }
  const child = spawn('npm', ['ci', '--no-audit', '--no-fund', '--foreground-scripts'], {
    cwd: driverFolder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      // No binary is downloaded, and no headers.
      npm_config_build_from_source: 'true',
      npm_config_nodedir: nodeDirectory,
      JOBS: 'max',
      // Optimizing takes the compiler three times as long, and makes the tests hardly faster.
      CFLAGS: '-O0 -g0',
      CXXFLAGS: '-O0 -g0',
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  child.on('error', ({ message }) => end(message));
  child.on('exit', (code) => end(code === 0 ? undefined : output.slice(-2_000)));
  return child;
}

function end(failure: string | undefined): void {
  const installation: Installation = { key: currentKey(), ...(failure !== undefined && { failure }) };
  writeFileSync(STATE_FILE, JSON.stringify(installation));
}

/** Far longer than it takes on a busy machine. */
const LIMIT_MS = 600_000;

/** Resolves once better-sqlite3 is installed; rejects with what to do if it cannot be. */
export async function untilInstalled(): Promise<void> {
  for (const endsAt = performance.now() + LIMIT_MS; performance.now() < endsAt; await setTimeout(200)) {
    const installation = readInstallation();
    if (installation?.failure !== undefined) throw new Error(adviceFor(installation.failure));
    if (installation !== undefined) return;
  }
  throw new Error(adviceFor('npm was not ready after ten minutes'));
}

function adviceFor(failure: string): string {
  return (
    'better-sqlite3 could not be compiled for these tests. That takes python3, make, g++ and the headers of ' +
    `the Node.js that runs (those of Debian's nodejs are in libnode-dev). npm says:\n${failure}`
  );
}
