import { describe, expect, test } from 'vitest';
import { send } from '../../stores/redis/deliveries.ts';
import { useRedis } from '../../stores/redis/fixture.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { eventOf, openBusy } from './busy-jobs.ts';
import { openProcesses } from './processes.ts';
import { bookByResource, openQueueAt, pollPromoting } from './queue-fixture.ts';
import { queueServers } from './queue-servers.ts';

describe.each(queueServers)('a job in $name whose key is busy in a worker that may end', ({ useServer }) => {
  const server = useServer();

  test('stays a suspect, because it has not run', async () => {
    const { bull, isEmpty, jobId, promote, putBack, receiver, held, add, scope, succeed, worker } =
      await openBusy(server, { concurrency: 1 });
    await add();
    await server.setCounts(scope, jobId, { stalls: 1 });
    worker(receiver(bookByResource(held.handle)));
    const suspicion = { stalls: 1, limit: 5, aloneDeaths: 0 };
    expect(await putBack(1)).toMatchObject({ progress: { suspicion, keyBusySince: expect.any(Number) } });
    succeed();
    await promote();
    (await held.calls.nth(2)).succeed();
    await expect.poll(isEmpty).toBe(0);
    expect(await bull.getJob(jobId)).toBeUndefined();
  });

  test('runs at once after the worker that had the key was closed', async () => {
    const { bull, promote, receiver, reports, worker } = await openQueueAt(server);
    const held = new HeldHandler();
    const register = bookByResource((event, context) => {
      const aborted = new Promise((_resolve, reject) => {
        context.signal.addEventListener('abort', () => reject(context.signal.reason));
      });
      return Promise.race([held.handle(event, context), aborted]);
    });
    const running = receiver(register);
    const closing = worker(running);
    const first = eventOf('a');
    await running.receive(deliveryOf(first));
    await held.calls.nth(1);
    expect(await closing.close({ graceMs: 0 })).toEqual({ abandoned: [`event-${first.id}`] });
    await promote();
    worker(receiver(register));
    (await held.calls.nth(2)).succeed();
    await running.receive(deliveryOf(eventOf('a')));
    (await held.calls.nth(3)).succeed();
    await expect.poll(() => bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')).toBe(0);
    expect(reports.all.filter(({ code }) => code === 'key_busy')).toHaveLength(0);
  });
});

describe('a job whose key is busy in another process', () => {
  const fixture = useRedis();

  test('is handled after the worker that had the key was killed, and so is the event of that worker', async () => {
    const options = { leaseMs: 10_000, isKeyed: true };
    const { bull, handledBy, openGate, promote, stallActive, start } = await openProcesses(fixture, options);
    const [server, dying] = await Promise.all([
      start('receiver'),
      // With room for another job, it would wait for the second one, and could get it while it is frozen.
      start('worker', { concurrency: 1 }),
    ]);
    const [first, second] = [eventOf('a'), eventOf('a')];
    expect(await send(server.url, first)).toMatchObject({ status: 202 });
    await dying.line(/ begun /);
    const other = await start('worker');
    openGate(other);
    dying.kill('SIGSTOP');
    expect(await send(server.url, second)).toMatchObject({ status: 202 });
    await other.line(new RegExp(`reported ${second.id} busy key_busy`));
    dying.kill('SIGKILL');
    await dying.exit;
    await stallActive();
    await pollPromoting(promote, () => [...handledBy(first.id), ...handledBy(second.id)]).toEqual([
      other.pid,
      other.pid,
    ]);
    await expect.poll(() => bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')).toBe(0);
  });
});
