import { Queue as BullQueue, createPostgresBackend } from 'bullmq';
import type { Pool } from 'pg';
import {
  createReceiver,
  type DeadLetter,
  PermanentError,
  type Queue,
  type Receiver,
  type ReceiverOptions,
  type Report,
} from 'posthorn';
import { createBullQueue, createBullWorker, migrateBullQueue } from 'posthorn/bullmq';
import { createPostgresStore } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { useDatabase } from '../../stores/postgres/fixture.ts';
import { closedAtEnd } from '../../support/closed-at-end.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { readDocument } from '../../support/documents.ts';
import { ampleDeadlines, ampleTime } from '../../support/limits.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { Seen } from '../../support/seen.ts';
import { KEY } from '../../support/served.ts';
import { silenced } from '../../support/silenced.ts';
import { until } from '../../support/until.ts';
import { promoteDelayed } from './postgres-queue-server.ts';
import { book } from './queue-fixture.ts';

const fixture = useDatabase();
const options = '-c search_path=bullmq';

beforeAll(() => migrateBullQueue(fixture.connect()));

/** The rights that docs/queue.md lists, one statement each. */
const grants: readonly string[] = readDocument('docs/queue.md')
  .blocks.filter(({ code }) => code.includes(' schema bullmq to '))
  .flatMap(({ code }) => code.trim().split('\n'));

/** A pool of a new role with these rights. */
async function connectAs(name: string, rights: readonly string[]): Promise<Pool> {
  const user = `${fixture.database}_${name}`;
  await fixture.sql(`create role ${user} login`);
  for (const right of rights) await fixture.sql(right.replace('posthorn_service', user));
  return fixture.connect({ user, options });
}

function openQueue(connection: Pool, scope: string): Queue {
  return closedAtEnd(createBullQueue({ backend: 'postgres', connection, scope }));
}

function openReceiver(queue: Queue, own: Partial<ReceiverOptions<Record<never, never>>> = {}): Receiver {
  const store = createPostgresStore(fixture.connect(), { scope: 'rights', ...ampleTime });
  const deadLetters = createMapDeadLetters();
  return closedAtEnd(
    createReceiver({ signingKey: KEY, queue, store, deadLetters, ...ampleDeadlines, ...own }),
  );
}

function openWorker(receiver: Receiver, connection: Pool, scope: string) {
  return closedAtEnd(createBullWorker(receiver, { backend: 'postgres', connection, scope }));
}

/** A queue as BullMQ sees it. */
function openBull(scope: string) {
  const bull = new BullQueue(scope, { connection: fixture.connect({ options }) }, createPostgresBackend);
  bull.on('error', () => {});
  onTestFinished(() => bull.close());
  return bull;
}

const receive = async (receiver: Receiver, id: string): Promise<number> =>
  (await receiver.receive(deliveryOf({ ...createEvent('transfer.created'), id }))).status;

describe('a role with the rights of docs/queue.md', () => {
  test('runs jobs, hears of new ones, puts them back, tries them again, and makes dead letters', async () => {
    const pool = await connectAs('service', grants);
    await expect(pool.query('create table bullmq.own (a text)')).rejects.toThrow('permission denied');
    const scope = 'rights';
    const queue = openQueue(pool, scope);
    const letters = new Map<string, DeadLetter>();
    const inMap = createMapDeadLetters(letters);
    let refuses = true;
    const put: typeof inMap.put = (letter) =>
      refuses ? Promise.reject(new Error('full')) : inMap.put(letter);
    const reports = new Seen<Report>();
    const runs = new Seen<string>();
    const receiver = openReceiver(queue, { deadLetters: { ...inMap, put } }).observe(reports.add);
    book(async ({ id }, { signal }) => {
      const isSecond = runs.all.includes(id);
      runs.add(id);
      if (id === 'evt_permanent') throw new PermanentError('never');
      if (id === 'evt_again' && !isSecond) throw new Error('once');
      if (id !== 'evt_back' || isSecond) return;
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    })(receiver);
    const bull = openBull(scope);
    const worker = openWorker(receiver, pool, scope);

    await until('the worker listens', async () => {
      const listening = "query ilike '%listen bullmq_jobs%' and usename like '%_service'";
      return (await fixture.sql(`select count(*) from pg_stat_activity where ${listening}`)) !== '0';
    });
    for (const id of ['evt_runs', 'evt_again', 'evt_permanent', 'evt_back'])
      expect(await receive(receiver, id)).toBe(202);
    for (const id of ['evt_runs', 'evt_again', 'evt_permanent', 'evt_back'])
      await runs.first((run) => run === id);

    await until(
      'a job is failed, because its dead letter is refused',
      async () => (await bull.getFailedCount()) === 1,
    );
    await until('a job waits for its second attempt', async () => (await bull.getDelayedCount()) === 1);
    expect(await worker.close({ graceMs: 0 })).toEqual({ abandoned: ['event-evt_back'] });
    refuses = false;
    openWorker(receiver, pool, scope);
    await until('the dead letter', () => letters.has('evt_permanent'));
    await promoteDelayed(fixture.connect({ options }), scope);
    for (const id of ['evt_again', 'evt_back'])
      await reports.first((report) => report.event?.id === id && report.outcome === 'processed');
    await until('nothing is left in the queue', async () => {
      return Object.values(await bull.getJobCounts()).every((count) => count === 0);
    });
  });

  test.each(grants)('needs each of them: without "%s" nothing is enqueued', async (left) => {
    const pool = await connectAs(
      `without_${grants.indexOf(left)}`,
      grants.filter((right) => right !== left),
    );
    silenced('error');
    const scope = `without-${grants.indexOf(left)}`;
    const reports = new Seen<Report>();
    const receiver = openReceiver(openQueue(pool, scope)).observe(reports.add);
    book(() => {})(receiver);
    const id = scope.replace('-', '_');
    // The first one waits until the receiver gives up; later ones fail at once, and tell why.
    for (const count of [1, 2]) expect(await receive(receiver, `${id}_${count}`)).toBe(503);
    expect(reports.all[1]?.error).toMatchObject({
      code: 'queue_unavailable',
      message: expect.stringMatching(/permission denied for (schema bullmq|table \w+|sequence \w+)/),
    });
  });
});

describe('a worker whose role lacks a right', () => {
  const cases = [
    { what: 'all', rights: [] },
    {
      what: 'to change the tables',
      rights: [grants[0] ?? '', 'grant select on all tables in schema bullmq to posthorn_service'],
    },
    { what: 'to use the sequences', rights: grants.slice(0, 2) },
  ];

  test.each(cases)(
    '$what sends few statements, and prints one line a minute, and none when it is closed',
    async ({ what, rights }) => {
      const logged = silenced('error');
      const index = cases.findIndex((each) => each.what === what);
      const pool = await connectAs(`poor_${index}`, rights);
      const scope = `poor-${index}`;
      const owned = openReceiver(openQueue(fixture.connect({ options }), scope));
      book(() => {})(owned);
      expect(await receive(owned, `evt_${scope}`)).toBe(202);

      const sent: number[] = [];
      pool.on('connect', (client) => {
        const query = client.query.bind(client);
        vi.spyOn(client, 'query').mockImplementation((...given: Parameters<typeof query>) => {
          sent.push(performance.now());
          return query(...given);
        });
      });
      const worker = openWorker(owned, pool, scope);
      await until('statements', () => sent.length >= 16);
      const seconds = ((sent.at(-1) ?? 0) - (sent[0] ?? 0)) / 1_000;
      expect(sent.length / seconds).toBeLessThan(10);
      await worker.close({ graceMs: 0 });
      const lines = logged.mock.calls.map(([line]) => line);
      expect(lines).toEqual([
        expect.stringMatching(/^posthorn: the worker of poor-\d: .*permission denied for /),
      ]);
    },
  );
});
