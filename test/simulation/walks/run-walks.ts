import { spawnSync } from 'node:child_process';

/**
 * Runs the program of the walks in a process of its own, because it replaces the clock and the timers.
 * Returns all that it prints, with the story of a broken promise.
 */
export function runWalks(program: string, ...options: readonly string[]): string {
  const args = ['--input-type=module', '-', ...options];
  const { stderr, stdout } = spawnSync(process.execPath, args, { input: program, encoding: 'utf8' });
  return stdout + stderr;
}
