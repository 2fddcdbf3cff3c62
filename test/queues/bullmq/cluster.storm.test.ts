import { Queue as BullQueue } from 'bullmq';
import { createReceiver, type Receiver } from 'posthorn';
import { createBullQueue, createBullWorker } from 'posthorn/bullmq';
import { createRedisStore } from 'posthorn/redis';
import { createEvent } from 'posthorn/testing';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Client, createClusterClient, type Major, ready } from '../../stores/redis/clients.ts';
import { useRedis } from '../../stores/redis/fixture.ts';
import type { RedisServer } from '../../stores/redis/servers.ts';
import { closedAtEnd } from '../../support/closed-at-end.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { Seen } from '../../support/seen.ts';
import { KEY } from '../../support/served.ts';
import { until } from '../../support/until.ts';
import { book, enqueue } from './queue-fixture.ts';
import { PREFIX } from './redis-queue-server.ts';

describe('a queue in a Redis Cluster', () => {
  const fixture = useRedis();
  let nodes: readonly RedisServer[] = [];
  beforeAll(async () => {
    nodes = await fixture.servers.cluster({ nodeTimeoutMs: 3_000 });
  });

  function connect(major: Major): Promise<Client> {
    return ready(fixture.keep(createClusterClient(major, nodes[0]?.port ?? 0)));
  }

  /** A receiver of its own process: its client of the Cluster is for the store, the queue and the worker. */
  async function open(scope: string, major: Major, register: (receiver: Receiver) => unknown) {
    const connection = await connect(major);
    const queue = closedAtEnd(createBullQueue({ connection, scope }));
    const store = createRedisStore(connection, { scope });
    const receiver = createReceiver({ signingKey: KEY, store, queue }).observe(() => {});
    register(receiver);
    closedAtEnd(receiver);
    const work = () => closedAtEnd(createBullWorker(receiver, { connection, scope }));
    return { receiver, work, connection };
  }

  async function look(scope: string): Promise<BullQueue> {
    const bull = new BullQueue(scope, { connection: await connect(6), prefix: PREFIX });
    bull.on('error', () => {});
    onTestFinished(async () => void (await bull.disconnect()));
    return bull;
  }

  test.each([5, 6] as const)('runs jobs, tries again and puts back, with ioredis %i', async (major) => {
    const scope = `cluster-${major}`;
    const seen = new Seen<string>();
    const failing = new Set<string>();
    const register = book(({ id }) => {
      seen.add(id);
      if (failing.delete(id)) throw new Error('locked');
    });
    const bull = await look(scope);
    const one = await open(scope, major, register);
    const other = await open(scope, major, register);
    const events = Array.from({ length: 20 }, () => createEvent('transfer.succeeded'));
    failing.add(events[0]?.id ?? '');
    for (const event of events) {
      expect(await one.receiver.receive(deliveryOf(event))).toMatchObject({ status: 202 });
      expect(await other.receiver.receive(deliveryOf(event))).toMatchObject({ status: 200 });
    }
    const workers = [one.work(), other.work()];
    await expect.poll(() => bull.getDelayed()).toMatchObject([{ attemptsMade: 1 }]);
    await bull.promoteJobs();
    await seen.nth(21);
    await expect.poll(() => bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')).toBe(0);
    expect(seen.all.toSorted()).toEqual([events[0], ...events].map((event) => event?.id).toSorted());

    expect(await Promise.all(workers.map((worker) => worker.close()))).toEqual(
      Array(2).fill({ abandoned: [] }),
    );
    const held = new HeldHandler();
    const third = await open(scope, major, book(held.handle));
    const worker = third.work();
    await third.receiver.receive(deliveryOf(createEvent('transfer.succeeded')));
    await held.calls.nth(1);
    expect((await worker.close({ graceMs: 0 })).abandoned).toHaveLength(1);
    expect(await bull.getDelayed()).toMatchObject([{ attemptsMade: 0 }]);
    // The clients were given, and stay open.
    expect(await Promise.all([one, other, third].map(({ connection }) => connection.exists('a')))).toEqual([
      0, 0, 0,
    ]);
  });

  test('goes on, with all that was acknowledged, when its master dies', async () => {
    const scope = 'cluster-failover';
    const handled = new Seen<string>();
    const register = book(({ id }) => handled.add(id));
    const backlog = await open(scope, 6, register);
    const waiting = await open('cluster-waiting', 6, register);
    waiting.work();
    const events = Array.from({ length: 20 }, () => createEvent('transfer.succeeded'));
    for (const event of events) {
      expect(await backlog.receiver.receive(deliveryOf(event))).toMatchObject({ status: 202 });
    }
    const first = await enqueue(waiting.receiver);
    expect(await handled.nth(1)).toBe(first.id);
    const master = masterOf(nodes, `${PREFIX}:${scope}:wait`);
    await until('its replica has everything', () => isReplicated(master));
    await master.kill();
    const late = createEvent('transfer.succeeded');
    for (const { receiver } of [backlog, waiting]) {
      const deliver = async (): Promise<boolean> => (await receiver.receive(deliveryOf(late))).status === 202;
      await until('the replica has taken over', deliver);
    }
    expect(await handled.nth(2)).toBe(late.id);
    backlog.work();
    await handled.nth(23);
    const bull = await look(scope);
    await expect.poll(() => bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')).toBe(0);
    const expected = [...events, first, late, late].map(({ id }) => id);
    expect(handled.all.toSorted()).toEqual(expected.toSorted());
  });
});

/** Whether its replica has all that it has. */
function isReplicated({ command }: RedisServer): boolean {
  const info = command('info', 'replication');
  const offset = /^master_repl_offset:(\d+)/m.exec(info)?.[1];
  return offset !== undefined && new RegExp(`^slave0:.*,offset=${offset},`, 'm').test(info);
}

/** The node that has the slot of a key. */
function masterOf(nodes: readonly RedisServer[], key: string): RedisServer {
  const [node] = nodes;
  const slot = Number(node?.command('cluster', 'keyslot', key));
  const lines = node?.command('cluster', 'nodes').split('\n') ?? [];
  const line = lines.find((candidate) =>
    candidate.split(' ').some((range) => {
      const [from = Number.NaN, to = from] = range.split('-').map(Number);
      return from <= slot && slot <= to;
    }),
  );
  const master = nodes.find(({ port }) => line?.includes(`:${port}@`));
  if (master === undefined) throw new Error(`no master of ${key}`);
  return master;
}
