import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeadLetters } from 'posthorn';
import { inOrder } from '../cli/letters.ts';
import type { ChildProgram } from '../support/child-program.ts';
import { addressOf, startOwnProgram } from '../support/own-program.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { type Ask, askOver } from './mounts.ts';

/** A process of test/operator/worker.mjs, and the function that asks its interface. */
export interface OperatorWorker extends ChildProgram {
  readonly ask: Ask;
}

/** The store of a worker, by the names of the variables that worker.mjs reads. */
export interface WorkerPlace {
  readonly STORE: 'postgres' | 'redis' | 'sqlite';
  /** The address of PostgreSQL, the port of Redis, or the file of SQLite. */
  readonly PLACE: string;
  readonly SCOPE: string;
  readonly DRIVER?: string;
  /** The file in which handlers note their runs. Without it they book in an inbox. */
  readonly LOG?: string;
}

/** Starts an interface in a process of its own, which ends with the test. */
export async function startOperator(place: WorkerPlace, receiver: object = {}): Promise<OperatorWorker> {
  const program = startOwnProgram('test/operator/worker.mjs', {
    ...place,
    RECEIVER: JSON.stringify(receiver),
  });
  const address = await addressOf(program);
  return { ...program, ask: askOver(new URL(address).origin) };
}

/** True for the error of a request to a process that was killed. */
export function isCutOff(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ECONNRESET' || code === 'ECONNREFUSED' || code === 'EPIPE';
}

/** The ids of the dead letters that two operators share. */
export const ids: readonly string[] = Array.from(
  { length: 200 },
  (_, index) => `evt_${String(index).padStart(3, '0')}`,
);

/** Parks them. */
export async function fill({ put }: DeadLetters): Promise<void> {
  await Promise.all(inOrder(ids, Date.now() - 86_400_000).map((each) => put(each)));
}

/** A file for the handlers of a test. */
export function createLog(): { readonly path: string; readonly lines: () => readonly string[] } {
  const path = join(temporaryDirectory(), 'log');
  writeFileSync(path, '');
  return { path, lines: () => readFileSync(path, 'utf8').split('\n').slice(0, -1).toSorted() };
}
