import { createRedisDeadLetters } from 'posthorn/redis';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { usePostgres } from '../../stores/postgres/fixture.ts';
import { useRedis } from '../../stores/redis/fixture.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import type { Note } from '../../support/notes.ts';
import { readAll } from '../../support/read-all.ts';
import { until } from '../../support/until.ts';
import { openPostgresProcesses } from './postgres-processes.ts';
import { openProcesses, type Started } from './processes.ts';

const CONCURRENCY = 12;
const WORK_MS = 2_000;
const LEASE_MS = 1_000;

const GOOD = 'transfer.succeeded';
/** Its handler kills the process, after 50 ms. */
const POISON = 'transfer.failed';

const OPTIONS = { leaseMs: LEASE_MS, isGated: false };

/** Starts a server before the tests; gives what opens a queue and dead letters on it. */
const servers = [
  {
    server: 'Redis',
    useServer: () => {
      const fixture = useRedis();
      return async () => {
        const processes = await openProcesses(fixture, OPTIONS);
        const { scope } = processes;
        return { ...processes, deadLetters: createRedisDeadLetters(await fixture.connect(), { scope }) };
      };
    },
  },
  {
    server: 'PostgreSQL',
    useServer: () => {
      const fixture = usePostgres();
      return () => openPostgresProcesses(fixture, OPTIONS);
    },
  },
];

describe.each(servers)('a worker that dies with many jobs, on $server', ({ useServer }) => {
  const openServer = useServer();

  /** A queue with jobs of these types, for one worker at a time. */
  async function open(types: readonly (typeof GOOD | typeof POISON)[]) {
    const { bull, deadLetters, notes, promote, receiver, stallActive, start } = await openServer();
    const accepting = receiver((fresh) => fresh.on('*', () => {}, { name: 'work', queue: true }));
    const events = types.map((type) => createEvent(type));
    for (const event of events) {
      expect(await accepting.receive(deliveryOf(event))).toMatchObject({ status: 202 });
    }
    const idsOf = (wanted: string): string[] =>
      events.flatMap(({ id, type }) => (type === wanted ? id : [])).sort();
    const startWorker = (): Promise<Started> =>
      start('worker', { concurrency: CONCURRENCY, workMs: WORK_MS });
    const isEmpty = async (): Promise<boolean> =>
      (await bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')) === 0;
    /** Resolves when the queue is empty, with false, or when the worker has died. */
    const diesBeforeEnd = async (worker: Started): Promise<boolean> => {
      let isDead = false;
      void worker.exit.then(() => (isDead = true));
      const hasEnded = async (): Promise<boolean> => {
        await promote();
        return isDead || isEmpty();
      };
      await until('the queue is empty, or the worker has died', hasEnded);
      return isDead;
    };
    /** The queue finds out that the worker has died, when the leases of its events have run out as well. */
    const stallDead = async (): Promise<void> => {
      const diedAt = performance.now();
      await stallActive();
      await until('the leases of its events have run out', () => performance.now() > diedAt + LEASE_MS);
    };
    return { deadLetters, diesBeforeEnd, idsOf, notes, stallDead, startWorker };
  }

  test('of which two kill it handles all others, and makes letters of the two', async () => {
    const types = Array.from({ length: 15 }, (_, index) => (index === 3 || index === 9 ? POISON : GOOD));
    const { deadLetters, diesBeforeEnd, idsOf, notes, stallDead, startWorker } = await open(types);
    let deaths = 0;
    while (await diesBeforeEnd(await startWorker())) {
      deaths += 1;
      await stallDead();
    }
    const letters = await readAll(deadLetters.list());
    expect(letters.map(({ id }) => id).sort()).toEqual(idsOf(POISON));
    expect(letters.map(({ reason }) => reason)).toEqual(['run_abandoned', 'run_abandoned']);
    const handled = notes().flatMap(({ what, id }) => (what === 'handled' ? id : []));
    expect(handled.sort()).toEqual(idsOf(GOOD));
    // Each of the two: with 12, 6, 3 jobs at most, and twice alone.
    expect(deaths).toBeLessThanOrEqual(10);
  });

  test('once runs them again in two groups', async () => {
    const { diesBeforeEnd, idsOf, notes, stallDead, startWorker } = await open(
      Array.from({ length: CONCURRENCY }, () => GOOD),
    );
    const killed = await startWorker();
    const begunBy = ({ pid }: Started): Note[] =>
      notes().filter((note) => note.what === 'begun' && note.pid === pid);
    await until('all run', () => begunBy(killed).length === CONCURRENCY);
    killed.kill('SIGKILL');
    await killed.exit;
    // Some on a machine that takes as long to begin 12 as one handler takes.
    const before = notes().flatMap(({ what, id }) => (what === 'handled' ? id : []));
    await stallDead();
    const worker = await startWorker();
    expect(await diesBeforeEnd(worker)).toBe(false);
    const own = notes().filter(({ pid }) => pid === worker.pid);
    const handled = own.flatMap(({ what, id }) => (what === 'handled' ? id : []));
    expect([...before, ...handled].toSorted()).toEqual(idsOf(GOOD));
    // Six begin together, and the others when these have ended; a busy machine may make one group more.
    const groups = groupsOf(own);
    expect(Math.max(...groups)).toBeLessThanOrEqual(CONCURRENCY / 2);
    expect(groups.length).toBeLessThanOrEqual(3);
  });
});

/** How many handlers ran together, again and again, until none did. */
function groupsOf(notes: readonly Note[]): number[] {
  const groups: number[] = [];
  let running = 0;
  for (const { what } of notes) {
    if (what === 'handled') running -= 1;
    if (what !== 'begun') continue;
    if (running === 0) groups.push(0);
    running += 1;
    groups.push((groups.pop() ?? 0) + 1);
  }
  return groups;
}
