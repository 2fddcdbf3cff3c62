import { createReceiver, type Queue } from 'posthorn';
import { createBullQueue } from 'posthorn/bullmq';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { useRedis } from '../../stores/redis/fixture.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { KEY } from '../../support/served.ts';
import { silenced } from '../../support/silenced.ts';
import { until } from '../../support/until.ts';
import { book } from './queue-fixture.ts';
import { PREFIX } from './redis-queue-server.ts';
import { accept, fillAndEmpty, infoOf, MAX_BYTES, SMALL } from './small-redis.ts';

describe('a queue that fills its Redis', () => {
  const fixture = useRedis();

  test('refuses ordinary bodies in time, so that a worker empties it, and accepts again', async () => {
    await fillAndEmpty(fixture, 3_000);
  });

  test('refuses from the share on that is set, and leaves it to Redis with 1', async () => {
    const redis = await fixture.servers.single(SMALL);
    const connection = { port: redis.port };
    const shares: number[] = [];
    for (const maxMemoryShare of [0.3, 0.6, 0.9]) {
      expect(await accept({ connection, maxMemoryShare }).fill(10_000)).toBeGreaterThan(10);
      shares.push(infoOf(redis, 'used_memory') / MAX_BYTES);
    }
    for (const [index, share] of [0.3, 0.6, 0.9].entries()) {
      expect(shares[index]).toBeGreaterThan(share - 0.1);
      expect(shares[index]).toBeLessThan(share + 0.05);
    }
    const { fill, receiver } = accept({ connection, maxMemoryShare: 1 });
    const reports: unknown[] = [];
    receiver.observe(({ error }) => reports.push(error?.message));
    expect(await fill(10_000)).toBeGreaterThan(10);
    expect(reports.at(-1)).toMatch(/OOM/);
  });

  test('refuses a job that is larger than what is left, and takes a smaller one', async () => {
    const redis = await fixture.servers.single(SMALL);
    const connection = { port: redis.port };
    expect(await accept({ connection }).deliver(10_000)).toBe(202);
    redis.command('config', 'set', 'maxmemory', String(infoOf(redis, 'used_memory') + 1_000_000));
    const { deliver } = accept({ connection });
    // Redis would take it, and be full.
    expect(await deliver(1_000_000)).toBe(503);
    expect(await deliver(10_000)).toBe(202);
  });

  test.each([
    ['has no maxmemory', { 'maxmemory-policy': 'noeviction' }],
    ['evicts keys', { maxmemory: '2mb', 'maxmemory-policy': 'volatile-lru' }],
  ])('accepts if its Redis %s', async (_what, settings) => {
    // BullMQ says that the policy should be noeviction.
    silenced('warn');
    const redis = await fixture.servers.single(settings);
    const { deliver } = accept({ connection: { port: redis.port }, maxMemoryShare: 0.001 });
    expect(await deliver(100)).toBe(202);
    redis.command('config', 'set', 'maxmemory-policy', 'noeviction', 'maxmemory', '4mb');
    // The answer is kept for a moment.
    await expect.poll(() => deliver(100)).toBe(503);
    redis.command('config', 'set', 'maxmemory', '0');
    await expect.poll(() => deliver(100)).toBe(202);
  });

  test('accepts if its Redis says nothing of its memory, and warns once', async () => {
    const print = silenced('error');
    const redis = await fixture.servers.single(SMALL);
    redis.command('acl', 'setuser', 'restricted', 'on', 'nopass', '~{posthorn}:*', '+@all', '-info');
    const user = { username: 'restricted', password: 'any' };
    // ioredis and BullMQ ask as well, at the start.
    const connection = { port: redis.port, ...user, enableReadyCheck: false, skipVersionCheck: true };
    const { deliver } = accept({ connection, maxMemoryShare: 0.001 });
    const refusals = (): number => {
      const stats = redis.command('info', 'commandstats');
      return Number(/^cmdstat_info:.*rejected_calls=(\d+)/m.exec(stats)?.[1] ?? 0);
    };
    await until('it has asked three times', async () => {
      expect(await deliver(100)).toBe(202);
      return refusals() >= 3;
    });
    expect(print.mock.calls).toEqual([
      [expect.stringMatching(/^posthorn: the queue full cannot tell how full its Redis is.*INFO.*NOPERM/)],
    ]);
  });

  test('asks now and then, and once for all that wait', async () => {
    const redis = await fixture.servers.single({ ...SMALL, maxmemory: '500mb' });
    const { deliver } = accept({ connection: { port: redis.port } });
    const asked = (): number => {
      const line = /^cmdstat_info:calls=(\d+)/m.exec(redis.command('info', 'commandstats'));
      return Number(line?.[1] ?? 0);
    };
    // BullMQ has asked for the version then.
    await expect.poll(() => deliver(100)).toBe(202);
    const before = asked();
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: 300 }, () => deliver(100)));
    for (let count = 0; count < 100; count += 1) await deliver(100);
    const halfSeconds = Math.ceil((performance.now() - startedAt) / 500);
    // One of them is of redis-cli itself.
    expect(asked() - before - 1).toBeLessThanOrEqual(halfSeconds + 1);
  });

  test('leaves nothing behind of an event that it refuses', async () => {
    const redis = await fixture.servers.single(SMALL);
    const { queue, receiver } = accept({ connection: { port: redis.port }, maxMemoryShare: 0.001 });
    const event = createEvent('transfer.succeeded');
    for (let count = 0; count < 2; count += 1) {
      expect(await receiver.receive(deliveryOf(event))).toMatchObject({ status: 503 });
    }
    expect(redis.command('keys', `${PREFIX}:full:event-*`)).toBe('');
    await expect(Promise.resolve(queue.add(await jobOf(event.id)))).rejects.toMatchObject({
      code: 'queue_unavailable',
    });
  });
});

/** A job as a receiver makes it. */
async function jobOf(id: string): Promise<Parameters<Queue['add']>[0]> {
  const jobs: Parameters<Queue['add']>[0][] = [];
  const queue: Queue = { add: async (job) => jobs.push(job), close: async () => {} };
  const receiver = createReceiver({ signingKey: KEY, queue }).observe(() => {});
  book(() => {})(receiver);
  await receiver.receive(deliveryOf({ ...createEvent('transfer.succeeded'), id }));
  await receiver.close();
  const [job] = jobs;
  if (job === undefined) throw new Error('no job was added');
  return job;
}

describe('the option maxMemoryShare', () => {
  test.each([0, -0.1, 1.1, Number.NaN, Infinity, '0.9', null, 1n])('may not be %s', (maxMemoryShare) => {
    const options = { connection: {}, scope: 'a', maxMemoryShare };
    expect(() => Reflect.apply(createBullQueue, undefined, [options])).toThrow(
      /maxMemoryShare must be a number above 0 and at most 1, got /,
    );
  });
});
