import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** The root of the package. */
export const packageRoot: string = fileURLToPath(new URL('../..', import.meta.url));

/** A program of its own process. */
export interface ChildProgram {
  /** Every line printed so far, on either stream. */
  readonly lines: readonly string[];
  /** Resolves with the first line that matches; rejects if the program ends without one. */
  readonly line: (pattern: RegExp) => Promise<string>;
  /** Resolves with the exit code. */
  readonly exit: Promise<number | null>;
  readonly kill: (signal: NodeJS.Signals) => void;
}

/** Runs a built JavaScript file. */
export function startProgram(
  path: string,
  env: NodeJS.ProcessEnv,
  cwd: string,
  args: readonly string[] = [],
): ChildProgram {
  return startCommand(process.execPath, [path, ...args], env, cwd);
}

/** Runs a command. A signal goes to it alone, and to none of the programs that it starts. */
export function startCommand(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd: string,
): ChildProgram {
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const { stdout, stderr } = child;
  return byLines({ stdout, stderr, exit: exitOf(child), kill: (signal) => void child.kill(signal) });
}

/** Runs a command. A signal goes to it and to all that it starts, as that of Ctrl-C on a terminal does. */
export function startGroup(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd: string,
): ChildProgram {
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const { pid, stdout, stderr } = child;
  const kill = (signal: NodeJS.Signals): void => {
    if (pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-pid, signal);
  };
  return byLines({ stdout, stderr, exit: exitOf(child), kill });
}

/** What runs, with all that it prints. */
export interface Running extends Pick<ChildProgram, 'exit' | 'kill'> {
  readonly stdout: Readable;
  readonly stderr: Readable;
}

/** Reads what it prints, line by line. All is read once `exit` resolves. */
export function byLines({ stdout, stderr, exit: ended, kill }: Running): ChildProgram {
  const lines: string[] = [];
  const listeners = new Set<() => void>();
  const read = [stdout, stderr].map((stream) => {
    const reader = createInterface(stream).on('line', (line) => {
      lines.push(line);
      for (const listener of listeners) listener();
    });
    return once(reader, 'close');
  });
  const exit = Promise.all(read).then(() => ended);
  const line = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = lines.find((candidate) => pattern.test(candidate));
        if (found !== undefined) resolve(found);
      };
      listeners.add(look);
      look();
      void exit.then(() => reject(new Error(`the program ended without ${pattern}:\n${lines.join('\n')}`)));
    });
  return { lines, line, exit, kill };
}

async function exitOf(child: ChildProcess): Promise<number | null> {
  await once(child, 'close');
  return child.exitCode;
}
