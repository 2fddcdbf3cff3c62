import { Queue as BullQueue, Worker } from 'bullmq';
import { createBullQueue, createBullWorker } from 'posthorn/bullmq';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { useRedis } from '../../stores/redis/fixture.ts';
import { usePostgresQueueServer } from './postgres-queue-server.ts';
import { openQueue, openQueueAt } from './queue-fixture.ts';

/** Lets BullMQ fail to close its queues, and its workers after they have ended. */
function failToClose(): void {
  vi.spyOn(BullQueue.prototype, 'close').mockRejectedValue(new Error('it cannot be closed'));
  const { close } = Worker.prototype;
  vi.spyOn(Worker.prototype, 'close').mockImplementation(async function (this: Worker) {
    await close.call(this);
    throw new Error('it cannot be closed');
  });
}

describe('where BullMQ fails to close', () => {
  const fixture = useRedis();

  afterEach(() => void vi.restoreAllMocks());

  /** The connections that are open on Redis. */
  async function openWatch() {
    const watching = await fixture.connect();
    return async (): Promise<number> =>
      String(await watching.client('LIST'))
        .trim()
        .split('\n').length;
  }

  test('close() of a queue cuts its connection off', async () => {
    const { connection, scope } = await openQueue(fixture);
    const count = await openWatch();
    const before = await count();
    const queue = createBullQueue({ connection, scope });
    await expect.poll(count).toBeGreaterThan(before);
    vi.spyOn(BullQueue.prototype, 'close').mockRejectedValue(new Error('it cannot be closed'));
    await queue.close();
    await expect.poll(count).toBe(before);
  });

  test('close() of a worker closes in time, and cuts off what is left', async () => {
    const { connection, receiver, scope } = await openQueue(fixture);
    const count = await openWatch();
    const running = receiver((fresh) => fresh.on('*', () => {}, { name: 'book', queue: true }));
    const before = await count();
    const worker = createBullWorker(running, { connection, scope });
    await expect.poll(count).toBe(before + 3);
    failToClose();
    expect(await worker.close()).toEqual({ abandoned: [] });
    await expect.poll(count).toBe(before);
  });
});

describe('where BullMQ fails to close, in PostgreSQL', () => {
  const server = usePostgresQueueServer();
  afterEach(() => void vi.restoreAllMocks());

  test('close() of a worker gives its clients back in time', async () => {
    const pool = server.options.connection;
    const count = (): number => pool.totalCount - pool.idleCount;
    const { receiver, scope } = await openQueueAt(server);
    const running = receiver((fresh) => fresh.on('*', () => {}, { name: 'book', queue: true }));
    const worker = createBullWorker(running, { ...server.options, scope });
    // One client hears of new jobs, and is kept.
    await expect.poll(count).toBe(1);
    failToClose();
    expect(await worker.close()).toEqual({ abandoned: [] });
    await expect.poll(count).toBe(0);
  });
});
