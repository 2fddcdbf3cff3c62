import { JournalError } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { fakeTime, passUntil } from '../../support/fake-time.ts';
import { createSeenJournal, openJournaledDirectly } from './journaled.ts';

const MINUTE_MS = 60_000;

/** A receiver whose journal fails until it is told otherwise, in a time that the test lets pass. */
function openFailing(error: Error = new Error('no database')) {
  const tried: string[] = [];
  const state = { fails: true };
  const seen = createSeenJournal(({ batchId }) => {
    tried.push(batchId);
    if (state.fails) throw error;
  });
  const opened = openJournaledDirectly({ journal: seen.journal, deadLetters: undefined });
  const pass = fakeTime();
  const sendNext = async () => {
    const event = createEvent('transfer.succeeded');
    await opened.send(event);
    return event.id;
  };
  /** The warnings of the journal, by report. */
  const warnings = () =>
    opened.reports.all.map(({ warnings: all }) => all.filter((warning) => warning.startsWith('journal_')));
  const health = async () => (await opened.receiver.health()).journal;
  /** Writes all, so that nothing waits at the end of the test. */
  const recover = async () => {
    state.fails = false;
    await passUntil(pass, opened.receiver.close());
  };
  return { ...opened, batches: seen.batches, health, pass, recover, sendNext, tried, warnings };
}

describe('a journal that fails', () => {
  test('gets the same batch each second until it succeeds, and then what came meanwhile', async () => {
    const { batches, pass, recover, sendNext, tried } = openFailing();
    const first = await sendNext();
    await pass(500);
    expect(tried).toHaveLength(1);
    const second = await sendNext();
    await pass(980);
    expect(tried).toHaveLength(1);
    await pass(1_020);
    expect(tried).toHaveLength(3);
    expect(new Set(tried).size).toBe(1);
    await recover();
    expect(batches.all.map(({ records }) => records.map(({ id }) => id))).toEqual([[first], [second]]);
    expect(batches.all.map(({ batchId }) => batchId)).toEqual([tried[0], tried.at(-1)]);
    expect(new Set(tried).size).toBe(2);
  });

  test('is in the health, with what waits, from the first failure until it answers', async () => {
    const { health, pass, recover, sendNext } = openFailing();
    const fine = { ok: true, leftOut: { bodies: 0, entries: 0 } };
    expect(await health()).toEqual({ ...fine, waiting: 0 });
    await sendNext();
    expect(await health()).toEqual({ ...fine, waiting: 1 });
    const before = Date.now();
    await pass(500);
    const failed = await health();
    expect(failed).toEqual({
      ok: false,
      waiting: 1,
      leftOut: fine.leftOut,
      failingSince: expect.any(Number),
      error: expect.any(JournalError),
    });
    expect(failed?.failingSince).toBeGreaterThanOrEqual(before);
    expect(failed?.error).toMatchObject({
      code: 'journal_unavailable',
      message: 'the journal failed: no database',
      cause: new Error('no database'),
    });
    await sendNext();
    await pass(5_000);
    expect(await health()).toMatchObject({ ok: false, waiting: 2, failingSince: failed?.failingSince });
    await recover();
    expect(await health()).toEqual({ ...fine, waiting: 0 });
  });

  test('is warned of with the next event, and then once a minute while it fails', async () => {
    const { pass, recover, reports, sendNext, warnings } = openFailing();
    await sendNext();
    await pass(500);
    await sendNext();
    await sendNext();
    await pass(MINUTE_MS - 20);
    await sendNext();
    await pass(20);
    await sendNext();
    await sendNext();
    const warning = expect.stringMatching(
      /^journal_failed: since 20\d\d-.*Z no entry could be written, and \d waits?: the journal failed: no database$/,
    );
    expect(warnings()).toEqual([[], [warning], [], [], [warning], []]);
    expect(reports.all.map(({ outcome }) => outcome)).toEqual(Array(6).fill('processed'));
    expect(warnings()[1]?.[0]).toContain('2 wait:');
    await recover();
  });

  test('is not warned of any more once it answers', async () => {
    const { pass, recover, sendNext, warnings } = openFailing();
    await sendNext();
    await pass(500);
    await recover();
    await sendNext();
    expect(warnings()).toEqual([[], []]);
    await pass(500);
  });

  test('keeps an error of its own in the health', async () => {
    const error = new JournalError('journal_unavailable', 'the journal of billing failed');
    const { health, pass, recover, sendNext } = openFailing(error);
    await sendNext();
    await pass(500);
    expect((await health())?.error).toBe(error);
    await recover();
  });
});

test('a journal that never answers has failed after a minute, and is asked again', async () => {
  const calls: (() => void)[] = [];
  const seen = createSeenJournal(() => new Promise<void>((resolve) => calls.push(resolve)));
  const { receiver, send } = openJournaledDirectly({ journal: seen.journal });
  const pass = fakeTime();
  await send(createEvent('transfer.succeeded'));
  await pass(500 + MINUTE_MS - 20);
  expect((await receiver.health()).journal).toMatchObject({ ok: true, waiting: 1 });
  await pass(40);
  const { journal } = await receiver.health();
  expect(journal).toMatchObject({ ok: false, error: { message: expect.stringContaining('in 60000 ms') } });
  await pass(1_000);
  expect(calls).toHaveLength(2);
  for (const answer of calls) answer();
  await pass(20);
  expect((await receiver.health()).journal).toMatchObject({ ok: true, waiting: 0 });
});
