import { createEvent } from 'posthorn/testing';
import { expect } from 'vitest';
import type { ChildProgram } from '../support/child-program.ts';

/** Starts the program `posthorn`, in the folder and the environment of an example. */
export type Posthorn = (args: readonly string[]) => ChildProgram;

/** An event that is parked at its first delivery, and that a replay by its id handles. */
export function parkedEvent(): { readonly id: string; readonly created_at: string } {
  const twoDaysAgo = new Date(Date.now() - 172_800_000).toISOString();
  return { ...createEvent('transfer.succeeded', { id: 'TR_parked' }), created_at: twoDaysAgo };
}

/** Lists, replays and lists a dead letter by the program, with the receiver module of an example. */
export async function expectReplayed(posthorn: Posthorn, module: string, id: string): Promise<void> {
  const run = async (...args: readonly string[]): Promise<readonly unknown[]> => {
    const { exit, lines } = posthorn(['dead-letters', ...args, '--receiver', module, '--json']);
    expect(await exit, lines.join('\n')).toBe(0);
    // The output of the module is among the lines.
    return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  };
  expect(await run('list')).toContainEqual(expect.objectContaining({ kind: 'letter', id }));
  expect(await run('replay', id)).toContainEqual(expect.objectContaining({ id, outcome: 'processed' }));
  expect(await run('list')).toEqual([
    { kind: 'summary', letters: 0, running: 0, old: 0, missing: 0, more: false },
  ]);
}
