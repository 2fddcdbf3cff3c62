import { createMemoryStore } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { useRedis } from '../../stores/redis/fixture.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { book, enqueue, openQueue } from './queue-fixture.ts';
import { watchUncaught } from './watch-uncaught.ts';

describe('a job that cannot be put back', () => {
  const fixture = useRedis();

  test('because Redis is away stays, and the worker closes in time', async () => {
    const uncaught = watchUncaught();
    const redis = await fixture.servers.single({ appendonly: 'yes', appendfsync: 'always' });
    const { bull, receiver, stallActive, worker } = await openQueue(fixture, redis);
    const held = new HeldHandler();
    const options = { store: createMemoryStore() };
    const running = receiver(book(held.handle), options);
    const event = await enqueue(running);
    const cutOff = worker(running, { concurrency: 1 });
    const { context } = await held.calls.nth(1);
    await redis.kill();
    const startedAt = performance.now();
    expect(await cutOff.close({ graceMs: 0 })).toEqual({ abandoned: [`event-${event.id}`] });
    expect(performance.now() - startedAt).toBeLessThan(8_000);
    expect(context.signal.aborted).toBe(true);
    await redis.restart();
    await expect.poll(() => bull.getActiveCount().catch(() => 0)).toBe(1);
    await stallActive();
    worker(receiver(book(held.handle), options));
    const second = await held.calls.nth(2);
    expect(second.context).toMatchObject({ attempt: 1, final: false });
    second.succeed();
    await expect.poll(() => bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')).toBe(0);
    expect(uncaught).toEqual([]);
  });
});
