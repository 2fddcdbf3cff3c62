import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
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
  const lines: string[] = [];
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream).on('line', (line) => {
      lines.push(line);
      for (const listener of listeners) listener();
    });
  }
  const exit = exitOf(child);
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
  return { lines, line, exit, kill: (signal) => void child.kill(signal) };
}

async function exitOf(child: ChildProcess): Promise<number | null> {
  await once(child, 'close');
  return child.exitCode;
}
