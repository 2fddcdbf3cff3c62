import { createMemoryStore, createReceiver } from 'posthorn';
import { createBullQueue, createBullWorker } from 'posthorn/bullmq';
import { createEvent } from 'posthorn/testing';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { useRedis } from '../../stores/redis/fixture.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { freePort } from '../../support/free-port.ts';
import { Seen } from '../../support/seen.ts';
import { KEY } from '../../support/served.ts';
import { silenced } from '../../support/silenced.ts';
import { until } from '../../support/until.ts';
import { book, enqueue, openQueue } from './queue-fixture.ts';

/** BullMQ gives the wait for a job up after 6 seconds without an answer. */
const OUTAGE_MS = 7_000;
const CLOSE_LIMIT_MS = 5_000;

describe('while Redis is away', () => {
  const fixture = useRedis();
  const print = vi.fn<typeof console.error>();
  beforeEach(() => void silenced('error').mockImplementation(print));

  test('workers and queues close in time, and other workers go on afterwards', async () => {
    const redis = await fixture.servers.single({ appendonly: 'yes', appendfsync: 'always' });
    const { queue, receiver, worker } = await openQueue(fixture, redis);
    const other = await openQueue(fixture, redis);
    const handled = new Seen<string>();
    const running = receiver(
      book(({ id }) => handled.add(id)),
      { store: createMemoryStore() },
    );
    await enqueue(running);
    worker(running);
    const closing = worker(running);
    await handled.nth(1);
    await redis.kill();
    const killedAt = performance.now();
    expect(await closing.close({ graceMs: 100 })).toEqual({ abandoned: [] });
    await other.queue.close();
    expect(performance.now() - killedAt).toBeLessThan(CLOSE_LIMIT_MS);
    await until('Redis has been away for so long', () => performance.now() > killedAt + OUTAGE_MS);
    await redis.restart();
    const second = createEvent('transfer.succeeded');
    await expect
      .poll(async () => (await running.receive(deliveryOf(second))).status)
      .toSatisfy((status: number) => status === 200 || status === 202);
    expect(await handled.nth(2)).toBe(second.id);
    await queue.close();
  });

  test('workers and queues close in time that have never reached it', async () => {
    const connection = { host: '127.0.0.1', port: await freePort() };
    const scope = 'nowhere';
    const queue = createBullQueue({ connection, scope });
    const receiver = createReceiver({ signingKey: KEY, queue }).observe(() => {});
    book(() => {})(receiver);
    const worker = createBullWorker(receiver, { connection, scope });
    await expect.poll(() => print.mock.calls.flat().join()).toMatch(/worker of nowhere: .*ECONNREFUSED/);
    const startedAt = performance.now();
    expect(await worker.close({ graceMs: 0 })).toEqual({ abandoned: [] });
    await queue.close();
    expect(performance.now() - startedAt).toBeLessThan(CLOSE_LIMIT_MS);
  });
});
