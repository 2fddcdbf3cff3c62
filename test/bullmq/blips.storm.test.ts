import { connect, createServer } from 'node:net';
import { createMemoryStore, createReceiver } from 'posthorn';
import { createBullQueue } from 'posthorn/bullmq';
import { createEvent } from 'posthorn/testing';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createDefaultClient } from '../redis/clients.ts';
import { useRedis } from '../redis/fixture.ts';
import { TcpProxy } from '../redis/tcp-proxy.ts';
import { deliveryOf } from '../support/delivery-of.ts';
import { KEY } from '../support/served.ts';
import { until } from '../support/until.ts';
import { book } from './queue-fixture.ts';

const BLIPS = 10;
const DELIVERIES = 20;

describe('a queue whose connection is lost for a moment', () => {
  const fixture = useRedis();
  beforeEach(() => {
    const spy = vi.spyOn(console, 'error').mockImplementation(() => {});
    onTestFinished(() => spy.mockRestore());
  });

  function open(connection: object) {
    const queue = createBullQueue({ connection, scope: `blips-${Math.random()}` });
    onTestFinished(async () => void (await queue.close()));
    const receiver = createReceiver({ signingKey: KEY, queue, store: createMemoryStore() }).observe(() => {});
    book(() => {})(receiver);
    return async (event: object = createEvent('transfer.succeeded')) => {
      const { status, body } = await receiver.receive(deliveryOf(event));
      return status === 202 ? status : body;
    };
  }

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
    const proxy = await TcpProxy.start(fixture.redis.port);
    onTestFinished(() => proxy.stop());
    const deliver = open(connections[name]?.(proxy.port) ?? {});
    // The process has just started.
    expect(await deliver()).toBe(202);
    const deliverMany = () => Promise.all(Array.from({ length: DELIVERIES }, () => deliver()));
    const queued = Array(DELIVERIES).fill(202);
    for (let blip = 1; blip <= BLIPS; blip += 1) {
      const accepted = proxy.acceptedCount;
      const before = deliverMany();
      proxy.cutConnections();
      const atOnce = deliverMany();
      // No new connection becomes ready: the client asks Redis first.
      proxy.holdRequests();
      await until('the client connects again', () => proxy.acceptedCount > accepted);
      const meanwhile = deliverMany();
      proxy.passRequests();
      expect(await before).toEqual(queued);
      expect(await atOnce).toEqual(queued);
      expect(await meanwhile).toEqual(queued);
    }
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
    const deliver = open({
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
