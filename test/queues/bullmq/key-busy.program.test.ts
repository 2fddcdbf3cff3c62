import { afterEach, describe, expect, test, vi } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { readAll } from '../../support/read-all.ts';
import { until } from '../../support/until.ts';
import { eventOf, openBusy } from './busy-jobs.ts';
import { openClock } from './open-clock.ts';
import { bookByResource } from './queue-fixture.ts';
import { queueServers } from './queue-servers.ts';

const MINUTE_MS = 60_000;

describe.each(queueServers)('a job in $name whose key is busy', ({ useServer }) => {
  const server = useServer();
  afterEach(() => void vi.restoreAllMocks());

  test('is put back, does not count an attempt, and is handled once the key is free', async () => {
    const { add, held, isEmpty, promote, putBack, run, succeed } = await openBusy(server);
    await add();
    expect(await putBack(1)).toMatchObject({ attemptsMade: 0 });
    await promote();
    expect(await putBack(2)).toMatchObject({ attemptsMade: 0 });
    succeed();
    await run();
    const { context, succeed: end } = await held.calls.nth(2);
    expect(context).toMatchObject({ attempt: 1, final: false });
    end();
    await expect.poll(isEmpty).toBe(0);
  });

  test('is put back for an hour, also at its last attempt; then it counts, and is parked', async () => {
    const clock = openClock(server);
    const { add, bull, event, jobId, letters, promote, reports } = await openBusy(server);
    await add(9);
    // A tenth of the time for which the key was busy; half of each pause is random.
    const pauses = [
      { minutes: 0, pauseMs: 5_000 },
      { minutes: 1, pauseMs: 6_000 },
      { minutes: 1, pauseMs: 12_000 },
      { minutes: 28, pauseMs: 60_000 },
      { minutes: 29, pauseMs: 60_000 },
    ];
    for (const [turn, { minutes, pauseMs }] of pauses.entries()) {
      await clock.advance(minutes * MINUTE_MS);
      if (minutes > 0) await promote();
      // Before it has run again, the last pause looks like the next one.
      await reports.nth(turn + 1, ({ code }) => code === 'key_busy');
      // On a slow machine the job comes again by itself in between, too.
      let job: Awaited<ReturnType<typeof bull.getJob>>;
      await until(
        () => `it is put back for ${pauseMs} ms: ${JSON.stringify(job)}`,
        async () => {
          job = await bull.getJob(jobId);
          const { attemptsMade = 0, delay = 0 } = job ?? {};
          return attemptsMade === 9 && delay >= pauseMs / 2 - 1 && delay <= pauseMs * 1.1;
        },
      );
      // Its dead letter was stored before the run, and is not parked.
      expect(letters.get(event.id)).toMatchObject({ reason: 'run_abandoned' });
    }
    await clock.advance(2 * MINUTE_MS);
    await promote();
    await expect
      .poll(() => letters.get(event.id))
      .toMatchObject({ reason: 'key_busy', attempts: 10, runningUntil: undefined });
  });

  test('counts an attempt after an hour, and from the beginning once the key was free', async () => {
    const clock = openClock(server);
    const { add, bull, held, jobId, promote, putBack, run, succeed, running } = await openBusy(server);
    await add();
    await putBack(1);
    await clock.advance(61 * MINUTE_MS);
    await promote();
    // More than one, if the worker came by itself before the job was promoted.
    const counted = (await putBack(2))?.attemptsMade ?? 0;
    expect(counted).toBeGreaterThanOrEqual(1);
    succeed();
    await run();
    held.calls.all[1]?.fail(new Error('locked'));
    await expect.poll(() => bull.getJob(jobId)).toMatchObject({ attemptsMade: counted + 1, progress: {} });
    // Another event has the key again.
    await running.receive(deliveryOf(eventOf('a')));
    await held.calls.nth(3);
    await promote();
    expect(await putBack(3)).toMatchObject({ attemptsMade: counted + 1 });
    held.calls.all[2]?.succeed();
  });

  test('counts an attempt if another handler of its event fails', async () => {
    const { add, bull, jobId, reports, succeed } = await openBusy(server, {
      register: (receiver, held) => {
        bookByResource(held.handle)(receiver);
        receiver
          .on('transfer.*', () => {}, { name: 'log', queue: true })
          .on('transfer.*', () => Promise.reject(new Error('locked')), { name: 'mail', queue: true });
      },
    });
    await add();
    await reports.nth(1, ({ code }) => code === 'handler_failed');
    await expect.poll(() => bull.getJob(jobId)).toMatchObject({ attemptsMade: 1 });
    expect((await bull.getJob(jobId))?.failedReason).toContain('locked');
    succeed();
  });

  test('does not run again the handlers that had finished', async () => {
    const runs: string[] = [];
    const { add, held, isEmpty, putBack, run, succeed } = await openBusy(server, {
      register: (receiver, handler) => {
        bookByResource(handler.handle)(receiver);
        receiver.on('transfer.*', ({ id }) => runs.push(id), { name: 'log', queue: true });
      },
    });
    await add();
    await putBack(1);
    succeed();
    await run();
    held.calls.all[1]?.succeed();
    await expect.poll(isEmpty).toBe(0);
    expect(runs).toHaveLength(2);
  });

  test('at its last attempt is not among the dead letters that wait, and cannot be replayed', async () => {
    const { add, deadLetters, event, putBack, receiver } = await openBusy(server);
    await add(9);
    await putBack(1);
    const [letter] = await readAll(deadLetters.list());
    expect(letter).toMatchObject({ id: event.id });
    const operator = receiver(bookByResource());
    expect((await operator.health()).deadLetters).toMatchObject({ waiting: 0 });
    expect(letter && (await operator.replay(letter))).toMatchObject({ outcome: 'busy' });
  });

  test('becomes a dead letter from the failed jobs if it could not be parked', async () => {
    const { add, bull, deadLetters, event, isEmpty, jobId, receiver, succeed, worker } = await openBusy(
      server,
      {
        deadLetters: undefined,
        concurrency: 1,
      },
    );
    await add(9);
    const job = await bull.getJob(jobId);
    await job?.updateProgress({ keyBusySince: Date.now() - 61 * MINUTE_MS });
    const without = worker(receiver(bookByResource(), { deadLetters: undefined }));
    await expect.poll(() => bull.getFailedCount()).toBe(1);
    await without.close();
    worker(receiver(bookByResource()));
    await expect
      .poll(() => deadLetters.get(event.id))
      .toMatchObject({
        reason: 'key_busy',
        attempts: 10,
        message: expect.stringMatching(/^the handler "book"/),
      });
    succeed();
    await expect.poll(isEmpty).toBe(0);
  });
});
