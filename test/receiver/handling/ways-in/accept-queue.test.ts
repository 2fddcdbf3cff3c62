import { createMemoryStore, type Queue, type QueuedJob } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import { accepted, openDirectly } from '../../../support/open-endpoint.ts';
import { readAll } from '../../../support/read-all.ts';
import { throwing } from '../../../support/throwing.ts';
import { openCounting, SOURCE } from './counting.ts';

/** A queue that keeps its jobs. */
class KeptJobs implements Queue {
  readonly jobs: QueuedJob[] = [];
  readonly add = async (job: QueuedJob): Promise<void> => void this.jobs.push(job);
  readonly close = async (): Promise<void> => {};
}

describe('with a queue', () => {
  test('an accepted event is enqueued, and its job completes it', async () => {
    const queue = new KeptJobs();
    const ran: string[] = [];
    const { receiver, send } = openDirectly({ queue, deadLetters: createMapDeadLetters() }, (opened) =>
      opened
        .on('*', () => void ran.push('inline'), { name: 'inline' })
        .on('*', () => void ran.push('queued'), { name: 'queued', queue: true }),
    );
    const event = createEvent('transfer.succeeded');
    expect(await receiver.accept(event, SOURCE)).toMatchObject({ outcome: 'queued', status: 202 });
    expect(await receiver.accept(event, SOURCE)).toMatchObject({ outcome: 'duplicate' });
    expect(queue.jobs).toHaveLength(1);
    expect(queue.jobs[0]).toMatchObject({ handled: ['inline'], isParked: true });
    const report = await receiver.dispatch(queue.jobs[0], { attempt: 1, final: false });
    expect(report).toMatchObject({ outcome: 'processed', source: 'job' });
    expect(ran).toEqual(['inline', 'queued']);
    expect(await send(event)).toEqual(accepted('duplicate', event.id));
  });

  test('an event that was handled before there was a queue is a duplicate', async () => {
    const queue = new KeptJobs();
    const store = createMemoryStore();
    const before = openCounting({ store });
    const event = createEvent('transfer.succeeded');
    await before.send(event);
    const { receiver } = openDirectly({ store, queue }, (opened) =>
      opened.on('*', () => {}, { name: 'queued', queue: true }),
    );
    expect(await receiver.accept(event, SOURCE)).toMatchObject({ outcome: 'duplicate' });
    expect(queue.jobs).toEqual([]);
  });

  test('an event that the queue does not take is parked', async () => {
    const queue = { add: throwing('no connection'), close: async () => {} };
    const deadLetters = createMapDeadLetters();
    const { receiver } = openDirectly({ queue, deadLetters }, (opened) =>
      opened.on('*', () => {}, { name: 'queued', queue: true }),
    );
    const report = await receiver.accept(createEvent('transfer.succeeded'), SOURCE);
    expect(report).toMatchObject({ outcome: 'parked', code: 'queue_unavailable' });
    expect(await readAll(deadLetters.list())).toHaveLength(1);
  });
});
