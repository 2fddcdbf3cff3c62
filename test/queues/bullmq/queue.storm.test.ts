import { createMemoryStore } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { useRedis } from '../../stores/redis/fixture.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { letterOf } from '../../support/letter-of.ts';
import { eventAt } from '../../support/open-endpoint.ts';
import { Seen } from '../../support/seen.ts';
import { until } from '../../support/until.ts';
import { book, openQueue, pollPromoting } from './queue-fixture.ts';

const HOUR_MS = 3_600_000;

describe('a queue of BullMQ', () => {
  const fixture = useRedis();

  test('gives no answer: 503 in time, and parked where no retry will come', async () => {
    const redis = await fixture.servers.single();
    const { deadLetters, receiver } = await openQueue(fixture, redis);
    const accepting = receiver(book(), { store: createMemoryStore(), deadlineMs: 4_000 });
    const event = createEvent('transfer.succeeded');
    // Its connection may take longer than the delivery has time.
    await until('it is queued', async () => (await accepting.receive(deliveryOf(event))).status === 202);
    const old = eventAt(Date.now() - HOUR_MS);
    const young = createEvent('transfer.succeeded');

    redis.signal('SIGSTOP');
    expect(await accepting.receive(deliveryOf(young))).toMatchObject({
      status: 503,
      body: expect.stringContaining('queue_unavailable'),
    });
    expect(await accepting.receive(deliveryOf(old))).toMatchObject({ status: 200 });
    expect(await letterOf(deadLetters, old.id)).toMatchObject({ reason: 'queue_unavailable' });
  });

  test('keeps its jobs over a restart of a Redis with AOF', async () => {
    const redis = await fixture.servers.single({ appendonly: 'yes', appendfsync: 'always' });
    const { bull, promote, receiver, stallActive, worker } = await openQueue(fixture, redis);
    const handled = new Seen<string>();
    const running = receiver(
      book(({ id }) => handled.add(id)),
      // A claim whose answer was lost lasts as long as its lease.
      { leaseMs: 10_000 },
    );
    const events = Array.from({ length: 20 }, () => createEvent('transfer.succeeded'));
    const work = worker(running);
    for (const event of events.slice(0, 10)) await running.receive(deliveryOf(event));
    await handled.nth(5);
    await redis.kill();
    await redis.restart();
    for (const event of events)
      await expect
        .poll(async () => (await running.receive(deliveryOf(event))).status)
        .toSatisfy((status: number) => status === 200 || status === 202);
    // A job that the worker was getting when Redis died is active, and no worker has it.
    await stallActive();
    await pollPromoting(promote, () => bull.getJobCountByTypes('waiting', 'active', 'delayed')).toBe(0);
    expect(new Set(handled.all).size).toBe(20);
    await work.close();
  });
});
