import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { type ChildProgram, packageRoot, startProgram } from '../support/child-program.ts';
import { temporaryDirectory } from './letters.ts';

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

/** Runs the built program `posthorn` to its end. */
export async function posthorn(args: readonly string[], surroundings: Surroundings = {}): Promise<Ended> {
  const { env, input = '', cwd = packageRoot } = surroundings;
  const child = spawn(process.execPath, [surroundings.program ?? program, ...args], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
  });
  child.stdin.on('error', () => {}); // it need not read what it is given
  child.stdin.end(input);
  const [stdout, stderr] = await Promise.all([
    buffer(child.stdout),
    buffer(child.stderr),
    child.exitCode ?? once(child, 'close'),
  ]);
  return { code: child.exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

/** Runs a command as it was printed, in a shell that finds `posthorn`. Resolves with its output. */
export async function paste(
  command: string,
  env: NodeJS.ProcessEnv = {},
  input: string = '',
): Promise<string> {
  const folder = temporaryDirectory();
  const script = `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`;
  writeFileSync(join(folder, 'posthorn'), script, { mode: 0o755 });
  const PATH = `${folder}:${process.env.PATH}`;
  const child = spawn('sh', ['-c', command], { env: { PATH, ...env }, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(input);
  const [stdout] = await Promise.all([text(child.stdout), child.exitCode ?? once(child, 'close')]);
  if (child.exitCode !== 0) throw new Error(`${command} ended with exit code ${child.exitCode}:\n${stdout}`);
  return stdout;
}

/** Starts a command that runs until it is told to end; it is killed with the test. */
export function startPosthorn(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  cwd: string = packageRoot,
): ChildProgram {
  const started = startProgram(program, { PATH: process.env.PATH, ...env }, cwd, args);
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
