import type { Journal, JournalEntry } from 'posthorn';
import { expect, onTestFinished } from 'vitest';
import { EVENTS, HANDLERS, INBOX, RERUN_HANDLERS, RUNS, type StormEvent } from './all-ways-events.ts';
import { type AllWaysPlace, AllWaysStorm } from './all-ways-storm.ts';

/** The answers that each storm has. */
const OUTCOMES = [
  'accept processed',
  'accept duplicate',
  'accept parked',
  'rerun processed',
  'rerun duplicate',
  'rerun busy',
];

/**
 * Events are delivered to three processes, while a fourth one accepts them and runs handlers once more, and
 * any of them replays dead letters. All are killed and frozen, and their database has its own troubles. In
 * the end each handler of an inbox has handled each event once, and once for each rerun.
 */
export async function expectAllWaysOnce(place: AllWaysPlace): Promise<void> {
  const storm = new AllWaysStorm(place);
  onTestFinished(() => storm.stop());
  await storm.run();
  const { events, finished } = storm;
  const journaled = storm.calls.journaled();
  const outcomes = Object.fromEntries([...storm.calls.outcomes].toSorted());
  const report = { ...storm.counts(), journaled: journaled.size, reruns: finished.size, outcomes };
  process.stdout.write(`storm of all ways: ${JSON.stringify(report)}\n`);

  expectRows(countEach(await place.readHandled()), events, finished);
  await expectJournal(place.journal, journaled);
  const rerunnable = events.filter(({ id }) => journaled.has(id));
  const names = rerunnable.flatMap(({ id }) => RUNS.map((run) => `${id} ${run}`));
  expect(names.filter((name) => !finished.has(name))).toEqual([]);
  expect(finished.size).toBeGreaterThan(EVENTS);
  for await (const { id } of place.deadLetters.list()) expect.unreachable(`the dead letter of ${id} is left`);
  const states = await Promise.all(events.map(async ({ id }) => (await place.store.peek?.({ id }))?.state));
  expect(new Set(states)).toEqual(new Set(['completed']));
  expect(storm.overlaps()).toEqual([]);
  expect(storm.crashes).toEqual([]);
  expect(outcomes['accept rejected']).toBeUndefined();
  expect(OUTCOMES.filter((outcome) => outcomes[outcome] === undefined)).toEqual([]);
}

/** A handler of an inbox writes one row for a first run, and one for a rerun, which may be unfinished. */
function expectRows(
  times: ReadonlyMap<string, number>,
  events: readonly StormEvent[],
  finished: ReadonlySet<string>,
): void {
  const firstRuns = events.flatMap(({ id }) => HANDLERS.map((handler) => `${id} ${handler} `));
  const reruns = events.flatMap(({ id }) =>
    RUNS.flatMap((run) =>
      RERUN_HANDLERS.map((handler) => ({
        row: `${id} ${handler} ${run}`,
        isFinished: finished.has(`${id} ${run}`),
      })),
    ),
  );
  const due = [...firstRuns, ...reruns.filter(({ isFinished }) => isFinished).map(({ row }) => row)];
  expect(due.filter((row) => !times.has(row))).toEqual([]);
  const wanted = new Set([...firstRuns, ...reruns.map(({ row }) => row)]);
  expect([...times.keys()].filter((row) => !wanted.has(row))).toEqual([]);
  const isOfInbox = (row: string): boolean => INBOX.includes(row.split(' ')[1] ?? '');
  expect([...times].filter(([row, count]) => count > 1 && isOfInbox(row))).toEqual([]);
}

/** A killed process may not have written its last second. The others have. */
async function expectJournal(journal: Journal, journaled: ReadonlySet<string>): Promise<void> {
  const entries = new Map<string, JournalEntry>();
  for await (const entry of journal.list()) entries.set(entry.id, entry);
  expect([...journaled].filter((id) => !entries.has(id))).toEqual([]);
  const isWhole = ({ handled, outcome, rawBody }: JournalEntry): boolean =>
    outcome === 'processed' && rawBody !== undefined && HANDLERS.every((name) => handled.includes(name));
  const known = [...entries.values()].filter(({ id }) => journaled.has(id));
  expect(known.filter((entry) => !isWhole(entry))).toEqual([]);
  expect(journaled.size).toBeGreaterThan(0);
}

/** Counts the occurrences of each text. */
function countEach(texts: readonly string[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const text of texts) times.set(text, (times.get(text) ?? 0) + 1);
  return times;
}
