import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { usePostgres } from '../../stores/postgres/fixture.ts';
import { send } from '../../stores/redis/deliveries.ts';
import { until } from '../../support/until.ts';
import { runPostgresClock } from './postgres-clock.ts';
import { openPostgresProcesses } from './postgres-processes.ts';

const EVENTS = 1_000;
const SENDERS = 20;
const KEYS = 20;

describe('jobs in PostgreSQL that four workers put back again and again', () => {
  const fixture = usePostgres();

  // BullMQ's issue #4814: with several workers a job that is put back could be taken for completed. Then its
  // event would be lost, or an attempt would be counted.
  test('are each handled once, at their first attempt', async () => {
    const processes = await openPostgresProcesses(fixture, { leaseMs: 5_000, isGated: false, isKeyed: true });
    const { bull, notes, start } = processes;
    // Two of them lack the handler.
    const [receivers] = await Promise.all([
      Promise.all([start('receiver'), start('receiver')]),
      ...(['worker', 'worker', 'stranger', 'stranger'] as const).map((role) => start(role)),
    ]);
    runPostgresClock(processes);
    const events = Array.from({ length: EVENTS }, (_, index) => {
      const event = createEvent('transfer.succeeded');
      return { ...event, data: { ...event.data, id: `key-${index % KEYS}` } };
    });
    const unsent = [...events.entries()];
    const sendAll = async (): Promise<void> => {
      for (let next = unsent.pop(); next !== undefined; next = unsent.pop()) {
        const [index, event] = next;
        expect(await send(receivers[index % 2]?.url ?? '', event)).toMatchObject({ status: 202 });
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, sendAll));
    await until(
      'the queue is empty',
      async () => (await bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')) === 0,
      120_000,
    );
    const all = notes();
    const begun = all.filter(({ what }) => what === 'begun');
    const handled = all.flatMap(({ what, id }) => (what === 'handled' ? id : []));
    const putBack = (code: string): number =>
      all.filter(({ what, rest }) => what === 'reported' && rest.endsWith(code)).length;
    const counts = { missing: putBack('handler_missing'), busy: putBack('key_busy') };
    const summary = { events: EVENTS, handled: handled.length, ...counts };
    process.stdout.write(`put-back storm on PostgreSQL: ${JSON.stringify(summary)}\n`);
    expect(handled.toSorted()).toEqual(events.map(({ id }) => id).toSorted());
    expect(begun.filter(({ rest }) => rest !== '1')).toEqual([]);
    // Half of the runs, at least.
    expect(counts.missing + counts.busy).toBeGreaterThanOrEqual(EVENTS);
    expect(Math.min(counts.missing, counts.busy)).toBeGreaterThan(0);
  });
});
