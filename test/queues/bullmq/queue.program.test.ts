import { createMemoryStore } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { useRedis } from '../../stores/redis/fixture.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { letterOf } from '../../support/letter-of.ts';
import { eventAt } from '../../support/open-endpoint.ts';
import { book, enqueue, openQueue, openQueueAt } from './queue-fixture.ts';
import { queueServers } from './queue-servers.ts';

const HOUR_MS = 3_600_000;

describe.each(queueServers)('a queue in $name', ({ useServer }) => {
  const server = useServer();

  test('has an event once, whatever its id looks like, and names its job after the type', async () => {
    const { bull, queue, receiver } = await openQueueAt(server);
    const accepting = receiver(book());
    const ids = ['evt_1', '42', 'a:b', 'a:b:c', 'é🙂', ' ', 'x'.repeat(500), 'event-evt_1', '__proto__'];
    for (const id of ids) {
      const delivery = deliveryOf({ ...createEvent('transfer.succeeded'), id });
      expect(await accepting.receive(delivery)).toMatchObject({ status: 202 });
    }
    const jobs = await bull.getWaiting();
    expect(jobs.map(({ data }) => data.id).sort()).toEqual([...ids].sort());
    for (const { name, data, opts } of jobs) {
      expect(name).toBe('transfer.succeeded');
      expect(opts).toMatchObject({ attempts: 10, removeOnComplete: true, removeOnFail: false });
      await queue.add({ ...data, toJSON: () => data });
    }
    expect(await bull.getWaitingCount()).toBe(ids.length);
  });
});

describe('a queue in Redis', () => {
  const fixture = useRedis();

  test('is away: 503 at once, and again 202 when it is back', async () => {
    const redis = await fixture.servers.single();
    const { queue, receiver } = await openQueue(fixture, redis);
    const accepting = receiver(book(), { store: createMemoryStore() });
    await enqueue(accepting);
    await redis.kill();
    const young = createEvent('transfer.succeeded');
    await expect
      .poll(async () => {
        const startedAt = performance.now();
        const { status } = await accepting.receive(deliveryOf(young));
        return [status, performance.now() - startedAt < 500];
      })
      .toEqual([503, true]);
    await redis.restart();
    await expect.poll(async () => (await accepting.receive(deliveryOf(young))).status).toBe(202);
    await queue.close();
  });

  test('is full: 503, or parked; never another 2xx', async () => {
    const redis = await fixture.servers.single({ 'maxmemory-policy': 'noeviction' });
    const { bull, deadLetters, receiver } = await openQueue(fixture, redis);
    const accepting = receiver(book(), { store: createMemoryStore() });
    await bull.waitUntilReady();
    const warm = deliveryOf(createEvent('transfer.succeeded'));
    expect(await accepting.receive(warm)).toMatchObject({ status: 202 });
    redis.command('config', 'set', 'maxmemory', '1');
    expect(await accepting.receive(deliveryOf(createEvent('transfer.succeeded')))).toMatchObject({
      status: 503,
      body: expect.stringContaining('queue_unavailable'),
    });
    const old = eventAt(Date.now() - HOUR_MS);
    expect(JSON.parse(String((await accepting.receive(deliveryOf(old))).body))).toEqual({
      outcome: 'parked',
      id: old.id,
    });
    expect((await letterOf(deadLetters, old.id)).message).toMatch(/OOM|maxMemoryShare/);
    expect(await bull.getWaitingCount()).toBe(1);
  });
});
