import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { packageRoot } from './child-program.ts';

let pipe: ChildProcess['stdin'] | undefined;

/** Writes to test/support/reaper.mjs, which outlives this process. */
function tell(line: string): void {
  pipe ??= start();
  pipe?.write(`${line}\n`);
}

/** In a session of its own, so that no Ctrl-C reaches it. */
function start(): ChildProcess['stdin'] {
  const program = join(packageRoot, 'test', 'support', 'reaper.mjs');
  const child = spawn(process.execPath, [program, String(process.pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Neither keeps this process from ending.
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  return child.stdin;
}

/** Has the program and all that it starts killed when this process ends. */
export function killAtEnd(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  tell(`start ${pid}`);
  child.once('exit', () => tell(`end ${pid}`));
}

/** Has this process killed when another one ends. */
export function endWith(pid: number): void {
  tell(`watch ${pid}`);
}

/** Has a folder removed when this process ends. */
export function removeAtEnd(folder: string): void {
  tell(`folder ${folder}`);
}
