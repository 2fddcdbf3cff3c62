import { createEvent } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { runFastClock } from '../queues/bullmq/fast-clock.ts';
import { openQueue } from '../queues/bullmq/queue-fixture.ts';
import { useRedis } from '../stores/redis/fixture.ts';
import { accepted, openEndpoint } from '../support/open-endpoint.ts';
import { until } from '../support/until.ts';
import { recorded } from './fixtures.ts';
import { SCOPE } from './record.ts';
import { openRedis } from './restored.ts';

/** Past the lock and the lease of a worker that was killed right before the recording. */
const AFTER_LOCK_MS = 31_000;

const OPEN_JOBS = [
  'evt_job_delayed',
  'evt_job_missing',
  'evt_job_running',
  'evt_job_waiting',
  'evt_job_waiting_last',
];

const fixture = useRedis();
// The first version had no queue.
const versions = recorded.filter(({ version }) => version !== '0.1.0');

test.each(versions)(
  'jobs of version $version are run once, and become letters if they had failed',
  async (version) => {
    const { store, deadLetters } = await openRedis(fixture, version, AFTER_LOCK_MS);
    const opened = await openQueue(fixture, fixture.redis, SCOPE);
    const ran: string[] = [];
    const { receiver, reports, send } = await openEndpoint(
      { store, deadLetters, queue: opened.queue },
      (created) => {
        created.on('*', ({ id }) => ran.push(`log ${id}`), { name: 'log' });
        created.on('dispute.*', ({ id }) => ran.push(`settle ${id}`), { name: 'settle', queue: true });
      },
    );
    opened.worker(receiver);
    await runFastClock(opened, fixture, fixture.redis);
    await until('every job is done', async () => {
      const counts = await opened.bull.getJobCounts();
      return Object.values(counts).every((count) => count === 0);
    });
    expect([...ran].sort()).toEqual(OPEN_JOBS.map((id) => `settle ${id}`));
    const attempts = reports.all.flatMap(({ event, attempt }) =>
      event === undefined ? [] : [[event.id, attempt]],
    );
    expect(Object.fromEntries(attempts)).toMatchObject({ evt_job_delayed: 2, evt_job_waiting: 1 });

    expect(await deadLetters.get('evt_job_waiting_last')).toBeUndefined();
    const letter = await deadLetters.get('evt_job_failed');
    if (letter === undefined) throw new Error('the failed job has not become a letter');
    expect(letter).toMatchObject({ reason: 'handler_failed_permanently', attempts: 1 });
    expect(await receiver.replay(letter)).toMatchObject({ outcome: 'processed' });
    for (const id of [...OPEN_JOBS, 'evt_job_done', 'evt_job_failed']) {
      const event = { ...createEvent('dispute.updated'), id };
      expect(await send(event)).toEqual(accepted('duplicate', id));
    }
    expect(ran).toHaveLength(OPEN_JOBS.length + 1);
  },
);
