import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { packageRoot } from '../support/child-program.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { type Ended, program } from './posthorn.ts';

/** Opens what takes no byte, until the test is over. */
export const refusing = {
  /** A disk without any room left. */
  fullDisk: (): number => closedLater(openSync('/dev/full', 'w')),
  /** A pipe whose reader has gone before the program starts. */
  closedPipe: (): number => {
    const path = join(temporaryDirectory(), 'pipe');
    execFileSync('mkfifo', [path]);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = closedLater(openSync(path, 'w'));
    closeSync(reader);
    return writer;
  },
};

function closedLater(descriptor: number): number {
  onTestFinished(() => closeSync(descriptor));
  return descriptor;
}

export interface Started {
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Resolves once this text was printed on stderr. */
  readonly printed: (text: string) => Promise<void>;
  readonly ended: Promise<Omit<Ended, 'stdout'>>;
}

/** Starts a command in a process of its own, with this file descriptor as its stdout. */
export function startOn(
  stdout: number,
  args: readonly string[],
  { env = {}, bin = program }: { readonly env?: NodeJS.ProcessEnv; readonly bin?: string } = {},
): Started {
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: packageRoot,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', stdout, 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk) => {
    stderr += chunk;
  });
  return {
    kill: (signal) => void child.kill(signal),
    printed: (text) => until(`stderr has ${text}`, () => stderr.includes(text)),
    ended: once(child, 'close').then(() => ({ code: child.exitCode, stderr })),
  };
}
