import { connect, createServer } from 'node:net';
import { beforeEach, describe, test } from 'vitest';
import { createDefaultClient } from '../../stores/redis/clients.ts';
import { useRedis } from '../../stores/redis/fixture.ts';
import { silenced } from '../../support/silenced.ts';
import { until } from '../../support/until.ts';
import { expectNoRefusal, openQueueOn } from './blips.ts';

const BLIPS = 10;

describe('a queue whose connection is lost for a moment', () => {
  const fixture = useRedis();
  beforeEach(() => void silenced('error'));

  /** As docs/queue.md asks of a client. */
  const own = { maxRetriesPerRequest: null };
  const connections: Record<string, (port: number) => object> = {
    'options, as in the docs': (port) => ({ host: '127.0.0.1', port }),
    'a client of ioredis 5': (port) => fixture.keep(createDefaultClient(5, port, own)),
    'a client of ioredis 6': (port) => fixture.keep(createDefaultClient(6, port, own)),
    'a client without a queue of its own': (port) =>
      fixture.keep(createDefaultClient(6, port, { ...own, enableOfflineQueue: false })),
  };

  test.each(Object.keys(connections))('refuses nothing: %s', async (name) => {
    await expectNoRefusal(fixture, BLIPS, connections[name] ?? (() => ({})));
  });

  test('takes jobs later, though its Redis died before it had answered for the first time', async () => {
    const redis = await fixture.servers.single();
    await redis.kill();
    let infos = 0;
    const dying = createServer((socket) => {
      const target = connect(fixture.redis.port, '127.0.0.1');
      target.on('data', (reply) => socket.write(reply));
      target.on('error', () => {});
      socket.on('error', () => {});
      socket.on('close', () => target.destroy());
      socket.on('data', (request) => {
        if (/\binfo\b/i.test(request.toString())) infos += 1;
        if (infos < 2) return void target.write(request);
        // The first question is that of ioredis, the second that of BullMQ.
        dying.close();
        socket.destroy();
      });
    }).listen(redis.port, '127.0.0.1');
    let attempts = 0;
    const deliver = openQueueOn({
      host: '127.0.0.1',
      port: redis.port,
      retryStrategy: (times: number) => {
        attempts = times;
        return 20;
      },
    });
    await until('it has tried to connect again', () => attempts > 3);
    await redis.restart();
    await until('a job is taken', async () => (await deliver()) === 202);
  });
});
