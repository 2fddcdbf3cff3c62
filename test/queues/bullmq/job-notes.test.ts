import { expect, test } from 'vitest';
import { type JobNotes, RunNotes, readNotes, writeNotes } from '../../../src/queues/bullmq/job-notes.ts';

const before: JobNotes = { handlerMissingSince: 1, keyBusySince: 2, forgivenStalls: 3, handled: ['log'] };

test('a run adds the handlers that have finished to the notes of its job, one writing after the other', async () => {
  const written: JobNotes[] = [];
  const writings: (() => void)[] = [];
  const run = new RunNotes(before, (notes) => {
    written.push(notes);
    return new Promise<void>((resolve) => writings.push(resolve));
  });
  run.noteHandled(['log', 'book']);
  run.noteHandled(['log', 'book', 'mail']);
  const ended = run.end();
  // An aborted handler that finishes later than its run.
  run.noteHandled(['late']);
  let isOver = false;
  const over = ended.then(() => (isOver = true));
  for (const count of [1, 2]) {
    await expect.poll(() => written).toHaveLength(count);
    expect(isOver).toBe(false);
    writings.shift()?.();
  }
  await over;
  expect(await ended).toEqual({ ...before, handled: ['log', 'book', 'mail'] });
  expect(written).toEqual([{ ...before, handled: ['log', 'book'] }, await ended]);
});

test.each([
  ['a number', 50, {}],
  ['null', null, {}],
  ['a list', [1], {}],
  ['notes', before, before],
  ['notes of which some are foreign', { ...before, keyBusySince: -1, handled: 'log', suspicion: {} }, 2],
])('the notes of a job whose progress is %s', (_, progress, notes) => {
  const { keyBusySince, handled, ...rest } = before;
  expect(readNotes(Object({ progress }))).toEqual(notes === 2 ? rest : notes);
});

test.each([
  [1, true],
  [0, false],
])('are written if %i lock was renewed: %s', async (renewed, isWritten) => {
  const written: unknown[] = [];
  const updateProgress = async (notes: JobNotes) => written.push(notes);
  const job = Object({ extendLock: async () => renewed, updateProgress });
  expect(await writeNotes(job, 'token', 30_000, before)).toBe(isWritten);
  expect(written).toEqual(isWritten ? [before] : []);
});
