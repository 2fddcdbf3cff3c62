import { describe, expect, test } from 'vitest';
import { usePostgres } from '../../stores/postgres/fixture.ts';
import type { StopMode } from '../../stores/postgres/server-process.ts';
import type { PostgresServer } from '../../stores/postgres/servers.ts';
import type { Note } from '../../support/notes.ts';
import { pick } from '../../support/pick.ts';
import { randomPause } from '../../support/random-pause.ts';
import { until } from '../../support/until.ts';
import { runPostgresClock } from './postgres-clock.ts';
import { openPostgresProcesses } from './postgres-processes.ts';
import type { Started } from './processes.ts';
import { type DeliveryCounts, deliverOne } from './storm-deliveries.ts';

const EVENTS = 2_000;
const SENDERS = 12;
const PAUSE_MS = 100;
/** Longer than a lock, by the clock of the test, and than a lease. */
const FREEZE_MS = 3_500;

interface Site extends Awaited<ReturnType<typeof openPostgresProcesses>> {
  readonly postgres: PostgresServer;
  readonly receivers: Started[];
  readonly workers: Started[];
  /** The events that each process had in hand at a fault of its own, or of the server. */
  readonly cutOff: Map<string, Set<string>>;
  readonly counts: DeliveryCounts;
}

type Fault = (site: Site) => Promise<void>;

const FAULTS: readonly Fault[] = [
  killWorker,
  killWorker,
  killReceiver,
  freezeWorker,
  terminateBackends,
  terminateBackends,
  (site) => restart(site, 'fast'),
  (site) => restart(site, 'immediate'),
  (site) => restart(site, 'kill'),
];

describe('receivers and workers on one PostgreSQL, in a storm', () => {
  const fixture = usePostgres();

  test('lose none of 2,000 events, and handle again only what was in hand at a fault', async () => {
    const postgres = await fixture.servers.single({ max_connections: '200' });
    const processes = await openPostgresProcesses(fixture, { postgres, leaseMs: 3_000, isGated: false });
    const { bull, deadLetters, notes, receiver, start } = processes;
    const startAll = (role: 'receiver' | 'worker'): Promise<Started[]> =>
      Promise.all([start(role), start(role)]);
    const [receivers, workers] = await Promise.all([startAll('receiver'), startAll('worker')]);
    runPostgresClock(processes);
    const counts = { events: 0, deliveries: 0, acknowledged: 0, refused: 0, cut: 0 };
    const site: Site = { ...processes, postgres, receivers, workers, cutOff: new Map(), counts };

    const stormed = storm(site);
    const senders = Array.from({ length: SENDERS }, async () => {
      while (counts.events < EVENTS) {
        await deliverOne(site, 0.2);
        await randomPause(PAUSE_MS);
      }
    });
    await Promise.all([stormed, ...senders]);
    await until(
      'the queue is empty',
      async () => (await bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')) === 0,
    );

    // An event that was in hand of two workers that died alone with it waits as a dead letter.
    const replayed: string[] = [];
    const replaying = receiver((fresh) => fresh.on('*', ({ id }) => replayed.push(id), { name: 'work' }));
    for await (const letter of deadLetters.list()) {
      expect(letter.reason).toBe('run_abandoned');
      expect(await replaying.replay(letter)).toMatchObject({ status: 200 });
    }

    const all = notes();
    const handled = all.filter(({ what }) => what === 'handled');
    const ids = [...new Set(handled.map(({ id }) => id))];
    const timesOf = (id: string): Note[] => handled.filter((note) => note.id === id);
    const repeated = ids.filter((id) => timesOf(id).length > 1 || replayed.includes(id));
    const counted = all.filter(({ what, rest }) => what === 'begun' && rest !== '1');
    const summary = { ...counts, replayed: replayed.length, handledTwice: repeated.length };
    process.stdout.write(`queue storm on PostgreSQL: ${JSON.stringify(summary)}\n`);
    expect(new Set([...ids, ...replayed]).size).toBe(counts.events);
    // One run of each was not cut off, at most. A frozen process may end its run after the other one.
    const unexplained = repeated.filter((id) => {
      const whole = timesOf(id).filter(({ pid }) => !site.cutOff.get(pid)?.has(id));
      return whole.length > (replayed.includes(id) ? 0 : 1);
    });
    expect(unexplained).toEqual([]);
    // No handler has failed.
    expect(counted).toEqual([]);
  });
});

/** Each fault at least twice, in any order, until the senders have sent their events. */
async function storm(site: Site): Promise<void> {
  for (let rounds = 0; rounds < 2 || site.counts.events < EVENTS; rounds += 1) {
    for (const fault of FAULTS.toSorted(() => Math.random() - 0.5)) {
      await fault(site);
      await randomPause(500);
    }
  }
}

async function killWorker(site: Site): Promise<void> {
  const victim = pick(site.workers);
  await until('it runs something', () => inHand(site.notes(), victim.pid).length > 0, 10_000).catch(() => {});
  victim.kill('SIGKILL');
  await victim.exit;
  noteCutOff(site, [victim]);
  site.workers[site.workers.indexOf(victim)] = await site.start('worker');
}

/** A receiver dies between the answers of the queue and of the delivery, or at any moment. */
async function killReceiver(site: Site): Promise<void> {
  const victim = pick(site.receivers);
  const dying = await site.start('receiver', { diesAt: 1 + Math.floor(Math.random() * 20) });
  site.receivers[site.receivers.indexOf(victim)] = dying;
  victim.kill('SIGKILL');
  let isDead = false;
  void dying.exit.then(() => (isDead = true));
  await until('it has died, or all are sent', () => isDead || site.counts.events >= EVENTS);
  dying.kill('SIGKILL');
  await Promise.all([victim.exit, dying.exit]);
  site.receivers[site.receivers.indexOf(dying)] = await site.start('receiver');
}

async function freezeWorker(site: Site): Promise<void> {
  const frozen = pick(site.workers);
  frozen.kill('SIGSTOP');
  noteCutOff(site, [frozen]);
  const frozenAt = performance.now();
  await until('it has been frozen for so long', () => performance.now() > frozenAt + FREEZE_MS);
  frozen.kill('SIGCONT');
}

async function terminateBackends(site: Site): Promise<void> {
  noteCutOff(site, site.workers);
  site.postgres.sql(
    "select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' " +
      'and pid <> pg_backend_pid() and random() < 0.5',
  );
  noteCutOff(site, site.workers);
}

/** A lease can end before the server is back, and then another worker may be quicker than the record. */
async function restart(site: Site, mode: StopMode): Promise<void> {
  const { refused, cut } = site.counts;
  noteCutOff(site, site.workers);
  await site.postgres.stop(mode);
  noteCutOff(site, site.workers);
  const isFelt = (): boolean =>
    site.counts.refused + site.counts.cut > refused + cut || site.counts.events >= EVENTS;
  await until('a delivery is refused, or all are sent', isFelt);
  await site.postgres.restart();
  noteCutOff(site, site.workers);
}

function noteCutOff({ cutOff, notes }: Site, processes: readonly Started[]): void {
  const all = notes();
  for (const { pid } of processes) {
    const ids = cutOff.get(pid) ?? new Set<string>();
    for (const id of inHand(all, pid)) ids.add(id);
    cutOff.set(pid, ids);
  }
}

/** The events whose handlers a process has begun, and has not reported as processed. */
function inHand(notes: readonly Note[], pid: string): string[] {
  const open = new Set<string>();
  for (const note of notes) {
    if (note.pid !== pid) continue;
    if (note.what === 'begun') open.add(note.id);
    if (note.what === 'reported' && /^(processed|duplicate)/.test(note.rest)) open.delete(note.id);
  }
  return [...open];
}
