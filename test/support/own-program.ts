import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type ChildProgram, packageRoot, startProgram } from './child-program.ts';
import { KEY } from './served.ts';

/**
 * Runs a file of this repository, by its path from the root. It gets the signing key of the tests as `KEY`,
 * and of their environment `PATH` alone. It is killed with the test at the latest.
 */
export function startOwnProgram(
  file: string,
  env: NodeJS.ProcessEnv,
  cwd: string = packageRoot,
): ChildProgram {
  const program = startProgram(join(packageRoot, file), { PATH: process.env.PATH, KEY, ...env }, cwd);
  onTestFinished(async () => {
    program.kill('SIGKILL');
    await program.exit;
  });
  return program;
}

/** The address of a program that prints `listening` and its port. */
export async function addressOf(program: ChildProgram): Promise<string> {
  const [port] = /\d+$/.exec(await program.line(/\blistening (on )?\d+$/)) ?? [];
  return `http://127.0.0.1:${port}/`;
}
