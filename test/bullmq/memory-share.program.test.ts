import { createReceiver, type Queue } from 'posthorn';
import { type BullQueueOptions, createBullQueue } from 'posthorn/bullmq';
import { createRedisDeadLetters } from 'posthorn/redis';
import { createEvent } from 'posthorn/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createClusterClient, ready } from '../redis/clients.ts';
import { useRedis } from '../redis/fixture.ts';
import type { RedisServer } from '../redis/servers.ts';
import { deliveryOf } from '../support/delivery-of.ts';
import { letterOf } from '../support/letter-of.ts';
import { eventAt } from '../support/open-endpoint.ts';
import { Seen } from '../support/seen.ts';
import { KEY } from '../support/served.ts';
import { until } from '../support/until.ts';
import { book, openQueue, PREFIX } from './queue-fixture.ts';

const HOUR_MS = 3_600_000;
const MAX_BYTES = 8 * 1_048_576;
const SMALL = { maxmemory: '8mb', 'maxmemory-policy': 'noeviction' };
/** More than fits, by far. */
const MOST_EVENTS = 10_000;
const AT_ONCE = 50;

/** An event with a body of so many bytes or a little more. */
function eventOf(bytes: number) {
  return { ...createEvent('transfer.succeeded'), note: 'x'.repeat(bytes) };
}

/** A number of INFO: of its memory, for example. */
function infoOf({ command }: RedisServer, name: string): number {
  const line = new RegExp(`^${name}:(\\d+)`, 'm').exec(command('info', 'everything'));
  return Number(line?.[1] ?? Number.NaN);
}

describe('a queue that fills its Redis', () => {
  const fixture = useRedis();

  /** A receiver whose queue is in the Redis, and whose store is not. */
  function accept(options: Omit<BullQueueOptions, 'scope'> & { readonly scope?: string }) {
    const queue = createBullQueue({ scope: 'full', ...options });
    onTestFinished(async () => void (await queue.close()));
    const receiver = createReceiver({ signingKey: KEY, queue }).observe(() => {});
    book(() => {})(receiver);
    onTestFinished(async () => void (await receiver.close({ graceMs: 0 })));
    const deliver = async (bytes: number): Promise<number> =>
      (await receiver.receive(deliveryOf(eventOf(bytes)))).status;
    /** Sends events of so many bytes until one is refused, and gives how many were accepted. */
    const fill = async (bytes: number): Promise<number> => {
      for (let accepted = 0; accepted < MOST_EVENTS; accepted += 1) {
        if ((await deliver(bytes)) !== 202) return accepted;
      }
      return MOST_EVENTS;
    };
    return { deliver, fill, queue, receiver };
  }

  test.each([
    ['small', 300],
    ['ordinary', 3_000],
    ['large', 100_000],
  ])('refuses %s bodies in time, so that a worker empties it, and accepts again', async (_which, bytes) => {
    const redis = await fixture.servers.single({ ...SMALL, appendonly: 'yes' });
    const { bull, receiver, reports, scope, worker } = await openQueue(fixture, redis);
    // The letters are there too, and fit: that of an event to which no retry will come.
    const client = await fixture.connect({ port: redis.port });
    const deadLetters = createRedisDeadLetters(client, { scope });
    const handled = new Seen<string>();
    const receiving = receiver(
      book(({ id }) => handled.add(id)),
      { deadLetters },
    );
    const accepted: string[] = [];
    let refused = 0;
    while (refused === 0 && accepted.length < MOST_EVENTS) {
      const events = Array.from({ length: AT_ONCE }, () => eventOf(bytes));
      const answers = await Promise.all(events.map((event) => receiving.receive(deliveryOf(event))));
      expect(answers.filter(({ status }) => status !== 202 && status !== 503)).toEqual([]);
      accepted.push(...events.flatMap(({ id }, index) => (answers[index]?.status === 202 ? [id] : [])));
      refused += answers.filter(({ status }) => status === 503).length;
    }
    expect(accepted.length).toBeGreaterThan(10);
    expect(infoOf(redis, 'used_memory')).toBeLessThan(MAX_BYTES);
    const { error } = await reports.first(({ code }) => code === 'queue_unavailable');
    expect(error?.message).toMatch(/of its 8388608 bytes \(maxmemory\).* 0\.9 .*\(maxMemoryShare\)/);

    const old = { ...eventAt(Date.now() - HOUR_MS), note: 'x'.repeat(bytes) };
    expect(JSON.parse(String((await receiving.receive(deliveryOf(old))).body))).toEqual({
      outcome: 'parked',
      id: old.id,
    });
    expect(await letterOf(deadLetters, old.id)).toMatchObject({ reason: 'queue_unavailable' });

    worker(receiving, { concurrency: AT_ONCE });
    await handled.nth(accepted.length);
    await expect.poll(() => bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')).toBe(0);
    expect(handled.all.toSorted()).toEqual(accepted.toSorted());
    await expect.poll(async () => (await receiving.receive(deliveryOf(eventOf(bytes)))).status).toBe(202);
  });

  test('is not filled by eight receivers at once either', async () => {
    const redis = await fixture.servers.single(SMALL);
    const receivers = Array.from({ length: 8 }, () => accept({ connection: { port: redis.port } }));
    const fillAtOnce = async ({
      deliver,
    }: {
      deliver: (bytes: number) => Promise<number>;
    }): Promise<void> => {
      for (let round = 0; round < MOST_EVENTS / AT_ONCE; round += 1) {
        const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => deliver(3_000)));
        if (answers.includes(503)) return;
      }
    };
    await Promise.all(receivers.map(fillAtOnce));
    expect(infoOf(redis, 'used_memory')).toBeGreaterThan(0.8 * MAX_BYTES);
    expect(infoOf(redis, 'used_memory_peak')).toBeLessThan(MAX_BYTES);
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
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    onTestFinished(() => warn.mockRestore());
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
    const print = vi.spyOn(console, 'error').mockImplementation(() => {});
    onTestFinished(() => print.mockRestore());
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

  test('has the node of a Cluster asked on which it is', async () => {
    const nodes = await fixture.servers.cluster();
    const connection = await ready(fixture.keep(createClusterClient(6, nodes[0]?.port ?? 0)));
    const { deliver } = accept({ connection, maxMemoryShare: 0.001 });
    const slot = Number(nodes[0]?.command('cluster', 'keyslot', `${PREFIX}:full:meta`));
    const limit = (node: RedisServer): string => node.command('config', 'set', 'maxmemory', '100mb');
    const own = nodes.filter((node) => hasSlot(node, slot));
    for (const node of nodes) if (!own.includes(node)) limit(node);
    for (let count = 0; count < 10; count += 1) expect(await deliver(100)).toBe(202);
    expect(own).toHaveLength(1);
    own.forEach(limit);
    await expect.poll(() => deliver(100)).toBe(503);
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

/** Whether a node of a Cluster is the master of a slot. */
function hasSlot({ command }: RedisServer, slot: number): boolean {
  const line = command('cluster', 'nodes')
    .split('\n')
    .find((candidate) => candidate.includes('myself,master'));
  return (line ?? '').split(' ').some((range) => {
    const [from = Number.NaN, to = from] = range.split('-').map(Number);
    return from <= slot && slot <= to;
  });
}

describe('the option maxMemoryShare', () => {
  test.each([0, -0.1, 1.1, Number.NaN, Infinity, '0.9', null, 1n])('may not be %s', (maxMemoryShare) => {
    const options = { connection: {}, scope: 'a', maxMemoryShare };
    expect(() => Reflect.apply(createBullQueue, undefined, [options])).toThrow(
      /maxMemoryShare must be a number above 0 and at most 1, got /,
    );
  });
});
