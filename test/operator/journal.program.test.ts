import type { JournalEntry } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { useDatabase } from '../stores/postgres/fixture.ts';
import { useSqlite } from '../stores/sqlite/fixture.ts';
import { deliveryOf } from '../support/delivery-of.ts';
import { ampleDeadlines } from '../support/limits.ts';
import { openDirectly } from '../support/open-endpoint.ts';
import { silenced } from '../support/silenced.ts';
import { until } from '../support/until.ts';
import { type JournalPlace, onPostgres, onSqlite } from './journals.ts';
import { type Answer, type Ask, serveOperator } from './mounts.ts';
import { pages, resultsOf } from './to-the-end.ts';
import { isCutOff, startOperator } from './workers.ts';

const COUNT = 300;
const RERUN_PATH = '/api/events/rerun';
const RERUN = { handlers: ['book'], run: 'correction', reason: 'a wrong rate' } as const;
const selection = { type: 'transfer.succeeded' } as const;

/** Receives events until the journal has them: as many as are rerun, and some with another end. */
async function receiveAll({ journal, register, store }: JournalPlace): Promise<readonly string[]> {
  const { receiver } = openDirectly({ store, journal, ...ampleDeadlines }, register);
  const succeeded = Array.from({ length: COUNT }, () => createEvent('transfer.succeeded'));
  const others = [createEvent('transfer.failed'), createEvent('merchant.created')];
  const events = [...succeeded.slice(0, 100), ...others, ...succeeded.slice(100)];
  for (let start = 0; start < events.length; start += 20)
    await Promise.all(events.slice(start, start + 20).map((event) => receiver.receive(deliveryOf(event))));
  await receiver.close();
  return succeeded.map(({ id }) => id).toSorted();
}

async function listed(ask: Ask, query: Readonly<Record<string, string>>): Promise<readonly JournalEntry[]> {
  const all: JournalEntry[] = [];
  for await (const { events = [] } of pages(ask, '/api/events', query)) all.push(...events);
  return all;
}

/** Follows a rerun until its process is killed; resolves with the request that got no answer. */
async function followUntilKilled(ask: Ask): Promise<object> {
  let next: object = { ...RERUN, selection };
  try {
    for (;;) {
      const { body, text }: Answer = await ask(RERUN_PATH, { body: next });
      if (body.next === undefined) throw new Error(`the rerun ended before the kill: ${text}`);
      next = body.next;
    }
  } catch (error) {
    if (!isCutOff(error)) throw error;
    return next;
  }
}

describe('the journal of an interface of operators', () => {
  const database = useDatabase();
  const sqlite = useSqlite();

  describe.each([
    { name: 'PostgreSQL', open: () => onPostgres(database) },
    { name: 'SQLite', open: () => onSqlite(sqlite) },
  ])('on $name', ({ open }) => {
    test('is listed by filters, and shows an event with its body', async () => {
      const opened = await open();
      const succeeded = await receiveAll(opened);
      const { receiver } = openDirectly({ store: opened.store, journal: opened.journal }, opened.register);
      const ask = await serveOperator(receiver);
      const all = await listed(ask, { limit: '200' });
      expect(all.length).toBe(COUNT + 2);
      const times = all.map(({ firstReceivedAt }) => firstReceivedAt);
      expect(times).toEqual(times.toSorted((one, other) => one - other));
      const processed = await listed(ask, { outcome: 'processed', limit: '70' });
      expect(processed.map(({ id }) => id).toSorted()).toEqual(succeeded);
      expect(await listed(ask, { type: 'transfer.failed' })).toMatchObject([{ outcome: 'failed' }]);
      expect(await listed(ask, { outcome: 'ignored' })).toMatchObject([{ type: 'merchant.created' }]);
      const [since, end] = [times[80] ?? 0, times[250] ?? 0];
      const between = await listed(ask, { since: String(since), until: String(end), type: 'transfer.*' });
      expect(between).toEqual(
        all.filter(
          ({ firstReceivedAt, type }) =>
            firstReceivedAt >= since && firstReceivedAt < end && type?.startsWith('transfer.'),
        ),
      );
      const [{ id, resource } = { id: '', resource: '' }] = processed;
      const ofResource = await listed(ask, { resource: String(resource) });
      expect(ofResource).toEqual(all.filter((entry) => entry.resource === resource));
      const shown = await ask(`/api/events/${id}`);
      expect(shown.body.body).toContain(`"id":"${id}"`);
    });

    test('reruns each of 300 events once, though the server is killed in the middle', async () => {
      silenced('info');
      const opened = await open();
      const ids = await receiveAll(opened);
      const before = await opened.bookings();
      const receiver = { leaseMs: 2_000 };
      const killed = await startOperator(opened.place, receiver);
      const killing = until('a third was run', async () => {
        return (await opened.bookings()).length > before.length + 100;
      }).then(() => killed.kill('SIGKILL'));
      const [unanswered] = await Promise.all([followUntilKilled(killed.ask), killing]);
      await killed.exit;
      const { ask } = await startOperator(opened.place, receiver);
      const results = [...(await resultsOf(ask, RERUN_PATH, unanswered))];
      // The claim of the killed process ends.
      const again = { ...RERUN, selection };
      await until('all were run', async () => {
        results.push(...(await resultsOf(ask, RERUN_PATH, again)));
        return results.slice(-COUNT).every(({ outcome }) => outcome === 'done');
      });
      expect(
        results
          .slice(-COUNT)
          .map(({ id }) => id)
          .toSorted(),
      ).toEqual(ids);
      expect(results.filter(({ outcome }) => !['processed', 'done', 'busy'].includes(outcome))).toEqual([]);
      expect(await opened.bookings()).toEqual([...before, ...ids].toSorted());
    });
  });
});
