import { createEvent } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { handledEntry } from '../../../support/handled-entry.ts';
import { startOwnProgram } from '../../../support/own-program.ts';
import { type BookingInbox, handled, rerunBook, tracesOf } from './rerun-cases.ts';

/** Runs reruns in processes that are killed. `place` gives the environment that names the inbox. */
export function testKilledReruns(inbox: BookingInbox, place: () => NodeJS.ProcessEnv): void {
  test.each([
    {
      dies: 'handler',
      when: 'in the handler',
      left: 'the old',
      traces: [1, ['book'], []],
      next: 'processed',
    },
    {
      dies: 'commit',
      when: 'before the COMMIT',
      left: 'the old',
      traces: [1, ['book'], []],
      next: 'processed',
    },
    {
      dies: 'completion',
      when: 'after the COMMIT',
      left: 'the new',
      traces: [2, ['book'], ['fix']],
      next: 'duplicate',
    },
  ])('a process that is killed $when leaves $left state', async ({ dies, traces, next }) => {
    const event = await handled(inbox, createEvent('transfer.succeeded'));
    const { rawBody, ...entry } = handledEntry(event);
    const ENTRY = JSON.stringify({ ...entry, rawBody: Buffer.from(rawBody ?? '').toString('base64') });
    const program = startOwnProgram('test/stores/kit/inbox/rerun-program.mjs', {
      ...place(),
      DIES: dies,
      ENTRY,
    });
    // Null: a signal has ended it.
    expect([await program.exit, program.lines]).toEqual([null, []]);
    expect(await tracesOf(inbox, event)).toEqual(traces);
    expect(await rerunBook(inbox.open(), event, 'fix')).toMatchObject({ outcome: next });
    expect(await tracesOf(inbox, event)).toEqual([2, ['book'], ['fix']]);
  });
}
