import type { Journal } from 'posthorn';
import { expect, test } from 'vitest';
import { pause } from '../../src/receiver/timing/process-clock.ts';
import { fakeTime, passUntil } from '../support/fake-time.ts';
import { createMapJournal } from '../support/map-journal.ts';
import { type Answer, fetchOperator } from './mounts.ts';
import { createOperated, idOf, NOW, record } from './operated.ts';

const RERUN = '/api/events/rerun';
const rerun = { handlers: ['book'], run: 'mend' };
const records = (count: number) => Array.from({ length: count }, (_, index) => record(index + 1));

/** Serves the interface of a receiver whose journal answers slowly. */
function open(count: number, { getMs = 0, listMs = 0 }) {
  const map = createMapJournal(new Map(records(count).map((one) => [one.id, one])));
  const journal: Journal = {
    ...map,
    get: async (id) => {
      await pause(getMs);
      return map.get(id);
    },
    async *list(selection) {
      await pause(listMs);
      yield* map.list(selection);
    },
  };
  const { handled, receiver } = createOperated({ journal });
  return { ask: fetchOperator(receiver), handled };
}

test('a rerun whose search takes all of the time tries one event with each request', async () => {
  const pass = fakeTime();
  const { ask, handled } = open(3, { listMs: 25_000 });
  const places: unknown[] = [];
  let next: object | undefined = { ...rerun, selection: {} };
  while (next !== undefined) {
    const { body }: Answer = await passUntil(pass, ask(RERUN, { body: next }));
    next = body.next;
    places.push(next);
    if (places.length > 5) expect.unreachable('the rerun has no end');
  }
  const selection = { until: NOW };
  expect(places).toEqual([...[1, 2].map((n) => ({ ...rerun, selection, after: idOf(n) })), undefined]);
  expect(handled).toEqual([1, 2, 3].map(idOf));
});

test('the dry run of a rerun ends after 20 seconds, and its next is a dry run too', async () => {
  const pass = fakeTime();
  const { ask, handled } = open(70, { getMs: 600 });
  const ids = records(70).map(({ id }) => id);
  const selected = await passUntil(pass, ask(RERUN, { body: { ...rerun, selection: {}, dryRun: true } }));
  expect(selected.body).toMatchObject({ dryRun: true, count: 40 });
  expect(selected.body.next).toEqual({
    ...{ ...rerun, dryRun: true },
    ...{ selection: { until: NOW }, after: idOf(40) },
  });
  const named = await passUntil(pass, ask(RERUN, { body: { ...rerun, ids, dryRun: true } }));
  expect(named.body).toMatchObject({ dryRun: true, count: 40 });
  expect(named.body.next).toEqual({ ...rerun, dryRun: true, ids: ids.slice(40) });
  expect(handled).toEqual([]);
});
