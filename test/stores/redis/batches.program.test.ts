import { createRedisStore, type IoredisClient } from 'posthorn/redis';
import { describe, expect, test, vi } from 'vitest';
import { errorOf } from '../../support/error-of.ts';
import { ampleTime } from '../../support/limits.ts';
import { stoppedClock } from '../../support/monotonic-clock.ts';
import { until } from '../../support/until.ts';
import { createClient, ready } from './clients.ts';
import { counted } from './counted.ts';
import { useRedis } from './fixture.ts';
import { commandsDuring } from './monitored.ts';
import { TcpProxy } from './tcp-proxy.ts';

const times = { leaseMs: 120_000, retentionMs: 1_000_000 };

describe('the operations that begin in one turn of the event loop', () => {
  const fixture = useRedis();

  const idsOf = (count: number, prefix: string): string[] =>
    Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

  /** The commands that clients send meanwhile, each with the number of its keys. */
  const commandsOf = async (operate: () => Promise<unknown>): Promise<string[]> =>
    (await commandsDuring(fixture, operate)).map(({ name, keyCount }) => `${name} ${keyCount}`);

  test.each([{ enableAutoPipelining: false }, { enableAutoPipelining: true }])(
    'go as one command, $enableAutoPipelining for the pipelining of the client',
    async ({ enableAutoPipelining }) => {
      const client = createClient(6, { port: fixture.redis.port, enableAutoPipelining });
      const store = createRedisStore(await ready(fixture.keep(client)), {
        scope: `batch-${enableAutoPipelining}`,
        ...ampleTime,
      });
      await store.claim({ ...times, id: 'ready', token: 'a' });
      // Operations that begin more than 20 ms apart go out apart.
      stoppedClock();
      const commands = await commandsOf(async () => {
        const claims = idsOf(10, 'one').map((id) => store.claim({ ...times, id, token: 'a' }));
        const completion = store.complete({ ...times, id: 'another', token: 'a' });
        const results = await Promise.all([...claims, completion]);
        expect(results.map(({ state }) => state)).toEqual([...claims.map(() => 'claimed'), 'completed']);
      });
      expect(commands).toEqual(['evalsha 11']);
    },
  );

  test('go out in tests that replace the timers of their process', async () => {
    const store = createRedisStore(await fixture.connect(), { scope: 'timers', ...ampleTime });
    vi.useFakeTimers({ toFake: ['setImmediate', 'setTimeout', 'setInterval'] });
    try {
      expect(await store.claim({ ...times, id: 'one', token: 'a' })).toMatchObject({ state: 'claimed' });
    } finally {
      vi.useRealTimers();
    }
  });

  test.each([5, 6] as const)(
    'wait for no reply to earlier ones, with ioredis %i that pipelines by itself',
    async (major) => {
      const proxy = await TcpProxy.start(fixture.redis.port);
      const options = { port: proxy.port, enableAutoPipelining: true };
      const client = fixture.keep(createClient(major, options));
      const store = createRedisStore(await ready(client), { scope: `direct-${major}`, ...ampleTime });
      await store.claim({ ...times, id: 'ready', token: 'a' });
      proxy.holdRequests();
      const earlier = client.echo('earlier');
      await until('the earlier command is under way', () => client.commandQueue.length === 1);
      const claiming = store.claim({ ...times, id: 'behind', token: 'a' });
      await until('the claim is under way too', () => client.commandQueue.length === 2);
      proxy.passRequests();
      expect(await earlier).toBe('earlier');
      expect((await claiming).state).toBe('claimed');
    },
  );

  test('tell of a first claim in the words that the store knows', async () => {
    const client = await fixture.connect();
    const replies: unknown[] = [];
    const listening: IoredisClient = {
      status: 'ready',
      eval: client.eval.bind(client),
      disconnect: client.disconnect.bind(client),
      evalsha: async (...request) => {
        const reply = await client.evalsha(...request);
        replies.push(reply);
        return reply;
      },
    };
    const store = createRedisStore(listening, { scope: 'words', ...ampleTime });
    await store.claim({ ...times, id: 'ready', token: 'a' });
    await store.claim({ ...times, id: 'first', token: 'a' });
    expect(replies.at(-1)).toEqual([expect.any(Number), expect.any(String), 'done', 'claimed 1 0 0 1 ']);
  });

  test('each get their own result, in whatever state their ids are', async () => {
    const store = createRedisStore(await fixture.connect(), { scope: 'mixed', ...ampleTime });
    await store.complete({ ...times, id: 'completed', token: 'a' });
    await store.claim({ ...times, id: 'busy', token: 'a' });
    await store.claim({ ...times, id: 'released', token: 'a' });
    await store.release({ ...times, id: 'released', token: 'a', handled: ['book it', 'tell "them"'] });
    const claim = (id: string) => store.claim({ ...times, id, token: 'b' });
    const [completed, busy, released, fresh, renewed, lost, twice] = await Promise.all([
      claim('completed'),
      claim('busy'),
      claim('released'),
      claim('fresh'),
      store.renew({ ...times, id: 'busy', token: 'a' }),
      store.renew({ ...times, id: 'busy', token: 'b' }),
      claim('fresh'),
    ]);
    expect(completed).toEqual({ state: 'completed' });
    expect(busy).toMatchObject({ state: 'busy', msLeft: expect.any(Number) });
    expect(released).toMatchObject({ state: 'claimed', attempt: 2, handled: ['book it', 'tell "them"'] });
    expect(fresh).toMatchObject({ state: 'claimed', attempt: 1, handled: [] });
    expect(renewed).toEqual({ state: 'held' });
    expect(lost).toEqual({ state: 'lost' });
    expect(twice).toMatchObject({ state: 'claimed', attempt: 1 });
  });

  test('do not fail with one among them that Redis refuses', async () => {
    const store = createRedisStore(await fixture.connect(), { scope: 'refused', ...ampleTime });
    fixture.redis.command('lpush', 'refused:list', 'not ours');
    const ids = [...idsOf(3, 'before'), 'list', ...idsOf(3, 'after')];
    const results = await Promise.allSettled(ids.map((id) => store.claim({ ...times, id, token: 'a' })));
    expect(results.map(({ status }) => status)).toEqual([
      ...Array(3).fill('fulfilled'),
      'rejected',
      ...Array(3).fill('fulfilled'),
    ]);
    expect(results[3]).toMatchObject({
      reason: errorOf('store_unavailable', 'WRONGTYPE'),
    });
    for (const id of idsOf(3, 'before')) {
      expect(await store.claim({ ...times, id, token: 'a' }), id).toMatchObject({ attempt: 1 });
    }
  });

  test('do not fail with one among them whose answer cannot be read: that one fails by itself', async () => {
    const client = await fixture.connect();
    const garble = (reply: unknown): unknown =>
      Array.isArray(reply) ? [...reply.slice(0, 4), 'no word of ours', ...reply.slice(5)] : reply;
    const garbling: IoredisClient = {
      status: 'ready',
      disconnect: client.disconnect.bind(client),
      eval: async (...command) => garble(await client.eval(...command)),
      evalsha: async (...command) => garble(await client.evalsha(...command)),
    };
    const store = createRedisStore(garbling, { scope: 'unreadable', ...ampleTime });
    const results = await Promise.allSettled(
      idsOf(3, 'id').map((id) => store.claim({ ...times, id, token: 'a' })),
    );
    expect(results).toMatchObject([
      { value: { state: 'claimed' } },
      {
        reason: errorOf('store_unavailable', 'Redis gave an unknown result: "no word of ours"'),
      },
      { value: { state: 'claimed' } },
    ]);
  });

  test('keep their own time limits if they have waited for the connection', async () => {
    const client = await fixture.connect();
    const listeners: (() => void)[] = [];
    const latest: number[] = [];
    const connecting = {
      status: 'connecting',
      eval: client.eval.bind(client),
      disconnect: client.disconnect.bind(client),
      on: (event: 'ready' | 'end', listener: () => void) => event === 'ready' && listeners.push(listener),
      evalsha: (sha1: string, keyCount: number, ...rest: string[]) => {
        latest.push(Number(rest[keyCount]));
        return client.evalsha(sha1, keyCount, ...rest);
      },
    };
    const limits = { scope: 'waited', ...ampleTime };
    await createRedisStore(client, limits).claim({ ...times, id: 'ready', token: 'a' });
    const store = createRedisStore(connecting, limits);
    const apartMs = 20_000;
    const forward = stoppedClock();
    const early = idsOf(2, 'early').map((id) => store.claim({ ...times, id, token: 'a' }));
    forward(apartMs);
    const late = idsOf(2, 'late').map((id) => store.claim({ ...times, id, token: 'a' }));
    connecting.status = 'ready';
    for (const listener of listeners) listener();
    await Promise.all([...early, ...late]);
    const [ofEarly = 0, ofLate = 0] = latest;
    expect(latest).toHaveLength(2);
    expect(ofLate - ofEarly).toBeGreaterThanOrEqual(apartMs);
  });

  test('go in several commands where there are very many', async () => {
    const store = createRedisStore(await fixture.connect(), { scope: 'many', ...ampleTime });
    await store.claim({ ...times, id: 'ready', token: 'a' });
    const commands = await commandsOf(async () => {
      const claims = idsOf(150, 'many').map((id) => store.claim({ ...times, id, token: 'a' }));
      expect((await Promise.all(claims)).every(({ state }) => state === 'claimed')).toBe(true);
    });
    // A script holds up every other client while it runs, so one command does not take them all; nor does
    // each take its own.
    expect(commands.length).toBeGreaterThan(1);
    expect(commands.length).toBeLessThan(150 / 2);
    const keyCounts = commands.map((command) => Number(/^evalsha (\d+)$/.exec(command)?.[1]));
    expect(keyCounts.reduce((sum, count) => sum + count, 0)).toBe(150);
  });

  test('go one by one in a Cluster, where their keys lie on different nodes', async () => {
    const { client, sent } = counted(await fixture.connect(), true);
    const store = createRedisStore(client, { scope: 'cluster', ...ampleTime });
    const claims = idsOf(30, 'one').map((id) => store.claim({ ...times, id, token: 'a' }));
    expect((await Promise.all(claims)).every(({ state }) => state === 'claimed')).toBe(true);
    expect(sent).toEqual(Array(30).fill(1));
  });
});
