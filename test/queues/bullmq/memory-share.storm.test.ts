import { describe, expect, test } from 'vitest';
import { createClusterClient, ready } from '../../stores/redis/clients.ts';
import { useRedis } from '../../stores/redis/fixture.ts';
import type { RedisServer } from '../../stores/redis/servers.ts';
import { PREFIX } from './redis-queue-server.ts';
import { AT_ONCE, accept, fillAndEmpty, infoOf, MAX_BYTES, MOST_EVENTS, SMALL } from './small-redis.ts';

describe('a queue that fills its Redis', () => {
  const fixture = useRedis();

  // Those of ordinary bodies are in test/queues/bullmq/memory-share.program.test.ts.
  test.each([
    ['small', 300],
    ['large', 100_000],
  ])('refuses %s bodies in time, so that a worker empties it, and accepts again', async (_which, bytes) => {
    await fillAndEmpty(fixture, bytes);
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
});

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
