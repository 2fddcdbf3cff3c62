import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { usePostgres } from '../../stores/postgres/fixture.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import type { Note } from '../../support/notes.ts';
import { until } from '../../support/until.ts';
import { openPostgresProcesses } from './postgres-processes.ts';
import type { Started } from './processes.ts';

const EVENTS = 5;
/** Longer than a lock, which is 30 seconds. */
const CLOCK_AHEAD_MS = 60_000;

describe('a worker on PostgreSQL whose clock is a minute ahead', () => {
  const fixture = usePostgres();

  test('takes jobs that run in another worker, and does not run their handlers again', async () => {
    const processes = await openPostgresProcesses(fixture, { leaseMs: 30_000 });
    const { bull, connection, handledBy, notes, openGate, promote, receiver, scope, start } = processes;
    const accepting = receiver((fresh) => fresh.on('*', () => {}, { name: 'work', queue: true }));
    const events = Array.from({ length: EVENTS }, () => createEvent('transfer.succeeded'));
    for (const event of events) {
      expect(await accepting.receive(deliveryOf(event))).toMatchObject({ status: 202 });
    }
    const punctual = await start('worker');
    const notesOf = (wanted: Started, pattern: RegExp): Note[] =>
      notes().filter(({ pid, what, rest }) => pid === wanted.pid && pattern.test(`${what} ${rest}`));
    await until('all run', () => notesOf(punctual, /^begun/).length === EVENTS);
    // A worker looks for stalled jobs when it starts: the first one marks them, the second one takes them.
    const early = await start('worker', { clockAheadMs: CLOCK_AHEAD_MS });
    const areMarked = async (): Promise<boolean> => {
      const marked = 'select count(*)::int as count from job where queue = $1 and stalled_marked';
      return (await connection.query(marked, [scope])).rows[0]?.count === EVENTS;
    };
    // On a slow machine the punctual worker may have marked them, so that this one takes them.
    const hasTaken = /^begun|^reported .*event_running$/;
    await until('they are marked, or taken', async () => {
      return notesOf(early, hasTaken).length > 0 || (await areMarked());
    });
    await connection.query("delete from meta where queue = $1 and field = 'stalled-check'", [scope]);
    const second = await start('worker', { clockAheadMs: CLOCK_AHEAD_MS });
    await until('all are taken from it', async () => {
      const taken = [...notesOf(early, hasTaken), ...notesOf(second, hasTaken)];
      return new Set(taken.map(({ id }) => id)).size === EVENTS;
    });
    for (const worker of [punctual, early, second]) openGate(worker);
    await until('the queue is empty', async () => {
      await promote();
      return (await bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')) === 0;
    });
    for (const { id } of events) expect(handledBy(id)).toEqual([punctual.pid]);
    // Nobody else has begun one.
    expect(notes().filter(({ what }) => what === 'begun')).toHaveLength(EVENTS);
  });
});
