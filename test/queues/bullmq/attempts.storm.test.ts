import { describe, expect, test } from 'vitest';
import { jsonLines, posthorn } from '../../cli/posthorn.ts';
import { writeModule } from '../../cli/receiver-module.ts';
import { useRedis } from '../../stores/redis/fixture.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { ampleTime } from '../../support/limits.ts';
import { readAll } from '../../support/read-all.ts';
import { KEY } from '../../support/served.ts';
import { exhaustAttempts } from './exhaust-attempts.ts';
import { openQueue } from './queue-fixture.ts';
import { redisQueueServer } from './redis-queue-server.ts';

/** The module of a receiver whose handler "book" is mended, for `posthorn dead-letters replay`. */
function mendedReceiver(redisUrl: string, scope: string): string {
  return `
    import { Redis } from 'ioredis';
    import { createReceiver } from 'posthorn';
    import { createBullQueue } from 'posthorn/bullmq';
    import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';
    const [url, scope] = ['${redisUrl}', '${scope}'];
    const redis = new Redis(url);
    await new Promise((resolve) => redis.once('ready', resolve));
    export const receiver = createReceiver({
      signingKey: '${KEY}',
      store: createRedisStore(redis, { scope, commandTimeoutMs: ${ampleTime.commandTimeoutMs} }),
      deadLetters: createRedisDeadLetters(redis, { scope }),
      queue: createBullQueue({ connection: { url }, scope }),
    }).on('transfer.*', ({ id }) => console.log('booked', id), { name: 'book', queue: true });
  `;
}

describe('a job', () => {
  const fixture = useRedis();

  test('that has become a letter is listed by the program, replayed by it after the fix, and gone', async () => {
    const opened = await openQueue(fixture);
    const { scope } = opened;
    const { deadLetters, event, running, seen } = await exhaustAttempts(redisQueueServer(fixture), opened);
    const url = `redis://127.0.0.1:${fixture.redis.port}`;
    const list = ['dead-letters', 'list', '--redis', url, '--scope', scope, '--json'];
    expect(jsonLines(await posthorn(list))).toMatchObject([
      { kind: 'letter', id: event.id, attempts: 10 },
      { kind: 'summary', letters: 1, running: 0, old: 0, missing: 0, more: false },
    ]);
    const { file } = await writeModule(mendedReceiver(url, scope));
    expect(await posthorn(['dead-letters', 'replay', event.id, '--receiver', file])).toMatchObject({
      code: 0,
      stdout: `booked ${event.id}\nprocessed transfer.succeeded ${event.id}\n1 replayed\n`,
    });
    expect(await readAll(deadLetters.list())).toEqual([]);
    expect(jsonLines(await posthorn(list))).toEqual([
      { kind: 'summary', letters: 0, running: 0, old: 0, missing: 0, more: false },
    ]);
    expect(await running.receive(deliveryOf(event))).toMatchObject({ status: 200 });
    expect(seen.all).toHaveLength(10);
  });
});
