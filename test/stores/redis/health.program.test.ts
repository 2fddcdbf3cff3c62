import { createReceiver } from 'posthorn';
import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';
import { describe, expect, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { until } from '../../support/until.ts';
import { KEY } from './deliveries.ts';
import { useRedis } from './fixture.ts';

const scope = 'health';

describe('health of a receiver with its store in Redis', () => {
  const fixture = useRedis();

  test('writes nothing', async () => {
    const redis = await fixture.servers.single();
    const client = await fixture.connect({ port: redis.port });
    const store = createRedisStore(client, { scope, ...ampleTime });
    const deadLetters = createRedisDeadLetters(client, { scope, ...ampleTime });
    const receiver = createReceiver({ signingKey: KEY, store, deadLetters });
    // A busy machine may take longer than health waits.
    await expect
      .poll(() => receiver.health())
      .toMatchObject({
        store: { ok: true },
        deadLetters: { ok: true, waiting: 0, more: false },
      });
    expect(redis.command('dbsize')).toBe('0');
    expect(redis.command('info', 'persistence')).toContain('rdb_changes_since_last_save:0');
  });

  test.each([
    ['is frozen', 'SIGSTOP'],
    ['is killed, and comes back empty', 'SIGKILL'],
  ] as const)('says in time that Redis %s, and that it is back', async (_, signal) => {
    const redis = await fixture.servers.single();
    const client = await fixture.connect({ port: redis.port });
    const store = createRedisStore(client, { scope, ...ampleTime });
    const deadLetters = createRedisDeadLetters(client, { scope, ...ampleTime });
    const receiver = createReceiver({ signingKey: KEY, store, deadLetters });
    await expect.poll(() => receiver.health()).toHaveProperty('store.ok', true);
    if (signal === 'SIGKILL') await redis.kill();
    else redis.signal(signal);

    const startedAt = performance.now();
    expect(await receiver.health()).toMatchObject({
      store: { ok: false, failingSince: expect.any(Number), error: { code: 'store_unavailable' } },
      deadLetters: { ok: false, waiting: undefined, error: { code: 'dead_letters_unavailable' } },
    });
    // The commands themselves would wait for twice as long, and Redis stays away.
    expect(performance.now() - startedAt).toBeLessThan(ampleTime.commandTimeoutMs / 2);

    if (signal === 'SIGKILL') await redis.restart();
    else redis.signal('SIGCONT');
    await until('it is back', async () => (await receiver.health()).store.ok);
    await until('the letters are counted', async () => (await receiver.health()).deadLetters?.ok === true);
  });

  test('takes a Redis that is there and refuses to write for one that answers', async () => {
    const redis = await fixture.servers.single({ 'maxmemory-policy': 'noeviction' });
    const store = createRedisStore(await fixture.connect({ port: redis.port }), { scope, ...ampleTime });
    redis.command('config', 'set', 'maxmemory', '1');
    const claim = { id: 'evt_1', token: 't', leaseMs: 1_000, retentionMs: 1_000 };
    await expect(async () => store.claim(claim)).rejects.toThrow(/OOM/);
    const receiver = createReceiver({ signingKey: KEY, store });
    await expect.poll(() => receiver.health()).toHaveProperty('store.ok', true);
  });
});
