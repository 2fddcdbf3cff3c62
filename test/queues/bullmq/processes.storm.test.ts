import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { usePostgres } from '../../stores/postgres/fixture.ts';
import { send } from '../../stores/redis/deliveries.ts';
import { useRedis } from '../../stores/redis/fixture.ts';
import { openPostgresProcesses } from './postgres-processes.ts';
import { openProcesses } from './processes.ts';
import { pollPromoting } from './queue-fixture.ts';

/** Starts a server before the tests; gives what opens a queue on it. */
const servers = [
  {
    server: 'Redis',
    useServer: () => {
      const fixture = useRedis();
      return () => openProcesses(fixture);
    },
  },
  {
    server: 'PostgreSQL',
    useServer: () => {
      const fixture = usePostgres();
      return () => openPostgresProcesses(fixture);
    },
  },
];

describe.each(servers)('over several processes, on $server', ({ useServer }) => {
  const open = useServer();

  test('an event whose worker was killed in the middle is handled by another one', async () => {
    const { bull, handledBy, openGate, promote, stallActive, start } = await open();
    const [receiver, worker] = await Promise.all([start('receiver'), start('worker')]);
    const event = createEvent('transfer.succeeded');
    expect(await send(receiver.url, event)).toMatchObject({ status: 202 });
    await worker.line(/ begun /);
    worker.kill('SIGKILL');
    await worker.exit;
    await stallActive();
    const other = await start('worker');
    openGate(other);
    // Until the lease of the dead one has run out, the job is put back.
    await pollPromoting(promote, () => handledBy(event.id)).toEqual([other.pid]);
    await expect.poll(() => bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')).toBe(0);
    expect(await send(receiver.url, event)).toMatchObject({ status: 200 });
  });

  test('an event whose receiver was killed between the queue and the answer is handled once', async () => {
    const { bull, handledBy, openGate, start } = await open();
    const [dying, receiver] = await Promise.all([start('receiver', { diesAt: 1 }), start('receiver')]);
    const event = createEvent('transfer.succeeded');
    await expect(send(dying.url, event)).rejects.toThrow();
    expect(await bull.getWaitingCount()).toBe(1);
    const worker = await start('worker');
    openGate(worker);
    await expect.poll(() => handledBy(event.id)).toEqual([worker.pid]);
    // While the queue has the job it takes no other of the event.
    await expect.poll(() => bull.getJobCountByTypes('waiting', 'active', 'delayed')).toBe(0);
    // The retry of the service: once the lease of the dead receiver has run out, it is queued anew.
    await expect.poll(async () => (await send(receiver.url, event)).status).toBe(202);
    await worker.line(new RegExp(`reported ${event.id} duplicate`));
    expect(await send(receiver.url, event)).toMatchObject({ status: 200 });
    expect(handledBy(event.id)).toEqual([worker.pid]);
  });

  test('a worker that was frozen past its lock, and woken, leaves its event to the one that has it', async () => {
    const { bull, handledBy, openGate, promote, stallActive, start } = await open();
    const [receiver, frozen] = await Promise.all([start('receiver'), start('worker')]);
    const event = createEvent('transfer.succeeded');
    expect(await send(receiver.url, event)).toMatchObject({ status: 202 });
    await frozen.line(/ begun /);
    frozen.kill('SIGSTOP');
    await stallActive();
    const second = await start('worker');
    await pollPromoting(promote, () => second.lines.some((line) => line.includes(' begun '))).toBe(true);
    second.kill('SIGSTOP');
    await stallActive();
    const third = await start('worker');
    openGate(third);
    await pollPromoting(promote, () => handledBy(event.id)).toEqual([third.pid]);
    await third.line(new RegExp(`reported ${event.id} processed`));
    for (const woken of [frozen, second]) {
      woken.kill('SIGCONT');
      await woken.line(/ aborted /);
      openGate(woken);
      await woken.line(new RegExp(`reported ${event.id} duplicate`));
    }
    expect(handledBy(event.id)).toEqual([third.pid]);
    await expect.poll(() => bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')).toBe(0);
  });

  test('a worker drains on SIGTERM', async () => {
    const { bull, handledBy, openGate, start } = await open();
    const [receiver, worker] = await Promise.all([start('receiver'), start('worker')]);
    const event = createEvent('transfer.succeeded');
    await send(receiver.url, event);
    await worker.line(/ begun /);
    worker.kill('SIGTERM');
    openGate(worker);
    expect(await worker.exit).toBe(0);
    expect(handledBy(event.id)).toEqual([worker.pid]);
    expect(await bull.getJobCountByTypes('waiting', 'active', 'delayed')).toBe(0);
  });
});
