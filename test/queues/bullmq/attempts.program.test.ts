import { PermanentError } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { letterOf } from '../../support/letter-of.ts';
import { readAll } from '../../support/read-all.ts';
import { Seen } from '../../support/seen.ts';
import { throwing } from '../../support/throwing.ts';
import { exhaustAttempts } from './exhaust-attempts.ts';
import { book, enqueue, openQueueAt } from './queue-fixture.ts';
import { queueServers } from './queue-servers.ts';

const DAY_MS = 86_400_000;

describe.each(queueServers)('a job of a queue in $name', ({ useServer }) => {
  const server = useServer();

  test('comes again later; poison becomes a letter, is replayed after the fix, and gone', async () => {
    const opened = await openQueueAt(server);
    const { deadLetters, event, running, seen } = await exhaustAttempts(server, opened);
    const mended = new Seen<string>();
    const replaying = opened.receiver(
      book(({ id }) => mended.add(id)),
      { deadLetters },
    );
    expect(await replaying.replay(await letterOf(deadLetters, event.id))).toMatchObject({
      outcome: 'processed',
    });
    expect(mended.all).toEqual([event.id]);
    expect(await readAll(deadLetters.list())).toEqual([]);
    expect(await running.receive(deliveryOf(event))).toMatchObject({ status: 200 });
    expect(seen.all).toHaveLength(10);
  });

  test('runs each handler of its event once across retries, before the answer and in the worker', async () => {
    const { bull, promote, receiver, reports, worker } = await openQueueAt(server);
    const runs = new Seen<string>();
    const failsAtFirst = (name: string) => () => {
      runs.add(name);
      if (runs.all.filter((run) => run === name).length === 1) throw new Error(`${name} is away`);
    };
    const running = receiver((fresh) =>
      fresh
        .on('transfer.*', () => runs.add('log'), { name: 'log' })
        .on('transfer.*', failsAtFirst('notify'), { name: 'notify' })
        .on('transfer.*', () => runs.add('mail'), { name: 'mail', queue: true })
        .on('transfer.*', failsAtFirst('book'), { name: 'book', queue: true }),
    );
    const event = createEvent('transfer.succeeded');
    const statuses: number[] = [];
    for (let count = 0; count < 3; count += 1)
      statuses.push((await running.receive(deliveryOf(event))).status);
    expect(statuses).toEqual([500, 202, 200]);
    worker(running);
    await reports.nth(2, ({ outcome }) => outcome === 'failed');
    await expect.poll(() => bull.getDelayedCount()).toBe(1);
    await promote();
    await expect.poll(() => bull.getJobCountByTypes('active', 'delayed', 'waiting', 'failed')).toBe(0);
    expect(runs.all.toSorted()).toEqual(['book', 'book', 'log', 'mail', 'notify', 'notify']);
    expect(await running.receive(deliveryOf(event))).toMatchObject({ status: 200 });
  });

  test('of a backlog that is older than the retry schedule is not parked at its first failure', async () => {
    const { bull, letters, promote, receiver, reports, worker } = await openQueueAt(server);
    const seen = new Seen<{ attempt: number; final: boolean; letters: number }>();
    const register = book((_event, { attempt, final }) => {
      seen.add({ attempt, final, letters: letters.size });
      if (attempt === 1) throw new Error('locked');
    });
    await enqueue(receiver(register));
    // The workers were away for three days: longer than the schedule, and than maxEventAgeMs.
    worker(receiver(register, { now: () => Date.now() + 3 * DAY_MS }));
    expect(await seen.nth(1)).toEqual({ attempt: 1, final: false, letters: 0 });
    await expect.poll(() => bull.getDelayed()).toMatchObject([{ attemptsMade: 1 }]);
    expect(letters.size).toBe(0);
    await promote();
    expect(await seen.nth(2)).toEqual({ attempt: 2, final: false, letters: 0 });
    await expect.poll(() => bull.getJobCountByTypes('active', 'delayed', 'waiting', 'failed')).toBe(0);
    expect(reports.all.map(({ outcome, endpointAtRisk }) => [outcome, endpointAtRisk])).toEqual([
      ['queued', false],
      ['failed', false],
      ['processed', false],
    ]);
    expect(letters.size).toBe(0);
  });

  test('ends where its handler throws a PermanentError; without dead letters it fails for good', async () => {
    const { bull, deadLetters, receiver, worker } = await openQueueAt(server);
    const register = book(throwing(new PermanentError('the account has stalled')));
    const parking = worker(receiver(register));
    const event = createEvent('transfer.succeeded');
    const accepting = receiver(register);
    await accepting.receive(deliveryOf(event));
    await expect.poll(() => deadLetters.get(event.id)).toMatchObject({ attempts: 1 });
    await parking.close();
    worker(receiver(register, { deadLetters: undefined }));
    await accepting.receive(deliveryOf(createEvent('transfer.succeeded')));
    await expect.poll(() => bull.getFailedCount()).toBe(1);
    const [job] = await bull.getFailed();
    expect(job?.failedReason).toMatch(/^handler_failed_permanently: .*the account has stalled/);
    expect(job?.attemptsMade).toBe(1);
    // Once there are dead letters, a worker makes a letter of it, with the code and the message.
    worker(receiver(register));
    await expect
      .poll(() => deadLetters.get(String(job?.data.id)))
      .toMatchObject({
        reason: 'handler_failed_permanently',
        message: 'the handler "book" failed: the account has stalled',
        attempts: 1,
      });
    await expect.poll(() => bull.getFailedCount()).toBe(0);
  });

  test.each([
    { which: 'an earlier letter', attempts: 4, counted: 4 },
    { which: 'the job itself', attempts: 0, counted: 1 },
  ])('that becomes a letter counts the attempts of $which, which are more', async ({ attempts, counted }) => {
    const { bull, deadLetters, receiver, worker } = await openQueueAt(server);
    const register = book(throwing(new PermanentError('no such account')));
    const failing = receiver(register, { deadLetters: undefined });
    const failed = worker(failing);
    const event = await enqueue(failing);
    await expect.poll(() => bull.getFailed()).toMatchObject([{ attemptsMade: 1 }]);
    await failed.close();
    await deadLetters.put({
      id: event.id,
      reason: 'handler_failed',
      message: 'locked',
      rawBody: Buffer.from(JSON.stringify(event)),
      headers: {},
      receivedAt: Date.now(),
      parkedAt: Date.now(),
      attempts,
      handled: ['log'],
    });
    worker(receiver(register));
    await expect.poll(() => bull.getFailedCount()).toBe(0);
    expect(await deadLetters.get(event.id)).toMatchObject({ attempts: counted, handled: ['log'] });
  });
});
