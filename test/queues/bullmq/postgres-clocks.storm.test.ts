import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { usePostgres } from '../../stores/postgres/fixture.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { until } from '../../support/until.ts';
import { openPostgresProcesses } from './postgres-processes.ts';

const EVENTS = 5;
const HOUR_MS = 3_600_000;
/** A lock lasts 30 seconds. Then one look marks its job, and the next one, 30 seconds later, takes it. */
const TAKEN_UP_MS = 110_000;

describe('a worker on PostgreSQL whose clock is an hour ahead', () => {
  const fixture = usePostgres();

  test('takes no job of another worker, and delays none of a killed one', async () => {
    const processes = await openPostgresProcesses(fixture, { leaseMs: 30_000 });
    const { handledBy, notes, openGate, receiver, start } = processes;
    const accepting = receiver((fresh) => fresh.on('*', () => {}, { name: 'work', queue: true }));
    const events = Array.from({ length: EVENTS }, () => createEvent('transfer.succeeded'));
    for (const event of events) {
      expect(await accepting.receive(deliveryOf(event))).toMatchObject({ status: 202 });
    }
    const begunBy = (pid: string): number =>
      notes().filter((note) => note.pid === pid && note.what === 'begun').length;
    const killed = await start('worker');
    await until('all run', () => begunBy(killed.pid) === EVENTS);
    // A worker looks for the jobs of dead ones when it starts, as the next one does.
    const early = await start('worker', { clockAheadMs: HOUR_MS });
    const punctual = await start('worker');
    expect([begunBy(early.pid), begunBy(punctual.pid)]).toEqual([0, 0]);
    killed.kill('SIGKILL');
    for (const worker of [early, punctual]) openGate(worker);
    await until('all are handled', () => events.every(({ id }) => handledBy(id).length === 1), TAKEN_UP_MS);
    expect(begunBy(early.pid) + begunBy(punctual.pid)).toBe(EVENTS);
  });
});
