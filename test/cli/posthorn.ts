import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import {
  byLines,
  type ChildProgram,
  packageRoot,
  type Running,
  startGroup,
  startProgram,
} from '../support/child-program.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { runInHost } from './command-hosts.ts';

/** The built program. */
export const program: string = join(packageRoot, 'dist', 'src', 'cli', 'bin.js');

/** How a command ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Surroundings {
  /** Nothing of the tests' own environment is passed on but `PATH`. */
  readonly env?: NodeJS.ProcessEnv;
  /** What it reads on stdin; by default nothing. */
  readonly input?: string | Uint8Array;
  readonly cwd?: string;
  /** Another copy of the program. */
  readonly program?: string;
}

/** The words of a command: one by one, or as a text in which blanks part them. */
type Words = string | readonly string[];

const listOf = (words: Words): readonly string[] => (typeof words === 'string' ? words.split(' ') : words);

/**
 * Runs a command of the built program to its end, in a process that has run others before it. A test of what
 * belongs to a process takes {@link posthornProcess}.
 */
export function posthorn(args: Words, surroundings: Surroundings = {}): Promise<Ended> {
  return endOf(startInHost(args, surroundings));
}

/** The same in a process of its own. */
export function posthornProcess(args: Words, surroundings: Surroundings = {}): Promise<Ended> {
  const { env, input = '', cwd = packageRoot } = surroundings;
  const child = spawn(process.execPath, [surroundings.program ?? program, ...listOf(args)], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
  });
  child.stdin.on('error', () => {}); // it need not read what it is given
  child.stdin.end(input);
  const { stdout, stderr } = child;
  const exit = once(child, 'close').then(() => child.exitCode);
  return endOf({ stdout, stderr, exit });
}

async function endOf({ stdout, stderr, exit }: Omit<Running, 'kill'>): Promise<Ended> {
  const [out, err, code] = await Promise.all([text(stdout), text(stderr), exit]);
  return { code, stdout: out, stderr: err };
}

function startInHost(args: Words, surroundings: Surroundings): Running {
  const { env, input = '', cwd = packageRoot } = surroundings;
  return runInHost({
    program: surroundings.program ?? program,
    args: listOf(args),
    env: { PATH: process.env.PATH, ...env },
    cwd,
    input: Buffer.from(input),
  });
}

/** Runs a command on a terminal, where somebody types `input`; `before` stands before it in the shell. */
export function onTerminal(args: string, input = '', before = ''): { status: number | null; stdout: string } {
  const command = `${before}"${process.execPath}" "${program}" ${args}`;
  return spawnSync('script', ['-qec', command, '/dev/null'], { encoding: 'utf8', input });
}

/** The `PATH` of a shell that finds `posthorn`. */
function pathToPosthorn(): string {
  const folder = temporaryDirectory();
  const script = `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`;
  writeFileSync(join(folder, 'posthorn'), script, { mode: 0o755 });
  return `${folder}:${process.env.PATH}`;
}

/** Starts a command as it was printed. It runs until the test ends. */
export function startPasted(command: string): ChildProgram {
  const started = startGroup('sh', ['-c', command], { PATH: pathToPosthorn() }, process.cwd());
  onTestFinished(async () => {
    started.kill('SIGTERM');
    await started.exit;
  });
  return started;
}

/** Runs a command as it was printed, in a shell that finds `posthorn`. Resolves with its output. */
export async function paste(
  command: string,
  env: NodeJS.ProcessEnv = {},
  input: string = '',
): Promise<string> {
  const PATH = pathToPosthorn();
  const child = spawn('sh', ['-c', command], { env: { PATH, ...env }, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => {}); // it need not read what it is given
  child.stdin.end(input);
  const [stdout] = await Promise.all([text(child.stdout), child.exitCode ?? once(child, 'close')]);
  if (child.exitCode !== 0) throw new Error(`${command} ended with exit code ${child.exitCode}:\n${stdout}`);
  return stdout;
}

/** How long a command may take to end. Then it is killed. */
const END_LIMIT_MS = 10_000;

/**
 * Starts a command that runs until it is told to end, in a process that has run others before it. It
 * ends with the test.
 */
export function startPosthorn(
  args: Words,
  env: NodeJS.ProcessEnv = {},
  cwd: string = packageRoot,
): ChildProgram {
  return byLines(start(args, { env, cwd }));
}

/** The same, for a test that reads what is printed byte for byte. */
export function start(args: Words, surroundings: Surroundings = {}): Running {
  const started = startInHost(args, surroundings);
  onTestFinished(async () => {
    started.kill('SIGTERM');
    const timer = setTimeout(() => started.kill('SIGKILL'), END_LIMIT_MS);
    await started.exit;
    clearTimeout(timer);
  });
  return started;
}

/** The same in a process of its own; it is killed with the test. */
export function startPosthornProcess(args: Words, env: NodeJS.ProcessEnv = {}): ChildProgram {
  const started = startProgram(program, { PATH: process.env.PATH, ...env }, packageRoot, listOf(args));
  onTestFinished(() => started.kill('SIGKILL'));
  return started;
}

/** Each line of stdout as JSON; throws for a line that is none. */
export function jsonLines({ stdout }: Pick<Ended, 'stdout'>): Record<string, unknown>[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}
