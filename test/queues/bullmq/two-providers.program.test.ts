import { createReceiver, type HandlerContext } from 'posthorn';
import { createBullWorker } from 'posthorn/bullmq';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { closedAtEnd } from '../../support/closed-at-end.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { ampleDeadlines } from '../../support/limits.ts';
import { deliveryOfOther, otherSender } from '../../support/other-sender.ts';
import { KEY } from '../../support/served.ts';
import { openQueueAt, pollPromoting } from './queue-fixture.ts';
import { queueServers } from './queue-servers.ts';

const ID = 'evt_1';
const OTHER_KEY = `handled:from:4:acme:-:${ID}`;
const delivery = deliveryOf({ ...createEvent('transfer.succeeded'), id: ID });
const otherDelivery = deliveryOfOther({ event_id: ID, type: 'transfer.succeeded' });

describe.each(queueServers)('two providers with the same ids in one queue in $name', ({ useServer }) => {
  const server = useServer();

  /** Receivers of both providers, with one store, one queue and one place of dead letters. */
  async function openBoth() {
    const opened = await openQueueAt(server);
    const { deadLetters, queue, receiver, reports } = opened;
    const store = await server.openStore(opened.scope);
    const ran: string[] = [];
    const handle = (_: unknown, { event }: HandlerContext): void => void ran.push(event.key);
    const service = receiver((created) => created.on('transfer.*', handle, { name: 'book', queue: true }));
    const options = {
      signingKey: KEY,
      queue,
      store,
      deadLetters,
      provider: otherSender(),
      ...ampleDeadlines,
    };
    const acme = closedAtEnd(
      createReceiver(options).on('transfer.*', handle, { name: 'book', queue: true }).observe(reports.add),
    );
    const workOnOthers = () =>
      closedAtEnd(createBullWorker(acme, { ...server.options, scope: opened.scope, concurrency: 1 }));
    return { ...opened, acme, ran, service, workOnOthers };
  }

  test('are two jobs, and a worker puts that of the other provider back without counting', async () => {
    const { acme, bull, letters, promote, ran, reports, service, worker, workOnOthers } = await openBoth();
    for (const _ of [1, 2]) {
      expect((await service.receive(delivery)).status).toBeLessThan(300);
      expect((await acme.receive(otherDelivery)).status).toBeLessThan(300);
    }
    expect(await bull.getWaitingCount()).toBe(2);
    worker(service);
    await reports.nth(1, ({ code }) => code === 'provider_mismatch');
    await expect
      .poll(() => bull.getDelayed())
      .toMatchObject([{ attemptsMade: 0, data: { provider: 'acme' } }]);
    await expect.poll(() => ran).toEqual([ID]);
    workOnOthers();
    await pollPromoting(promote, () => ran).toEqual([ID, OTHER_KEY]);
    await pollPromoting(promote, () => bull.getJobCountByTypes('waiting', 'active', 'delayed')).toBe(0);
    expect(letters.size).toBe(0);
  });

  test('that failed for good become a dead letter of their own provider only, and sealed ones stay', async () => {
    const opened = await openBoth();
    const { acme, bull, letters, reports, scope, service, worker, workOnOthers } = opened;
    await service.receive(delivery);
    await acme.receive(otherDelivery);
    const jobs = await bull.getWaiting();
    for (const { id } of jobs) await server.setCounts(scope, String(id), { attempts: 9 });
    const { rawBody: _, ...rest } = jobs[0]?.data ?? {};
    await bull.add('event', { ...rest, sealed: 'AAAA' }, { jobId: 'sealed' });
    const fail = async (): Promise<void> => Promise.reject(new Error('failed for good'));
    const failing = server.openBullWorker(scope, fail, { skipStalledCheck: true });
    failing.on('error', () => {});
    await expect.poll(() => bull.getFailedCount()).toBe(3);
    await failing.close();
    worker(service);
    await expect.poll(() => letters.get(ID)).toMatchObject({ id: ID });
    expect([...letters.keys()]).toEqual([ID]);
    workOnOthers();
    await expect.poll(() => letters.get(OTHER_KEY)).toMatchObject({ eventId: ID, provider: 'acme' });
    await expect.poll(() => bull.getFailed()).toMatchObject([{ id: 'sealed' }]);
    // A sweep passes over the jobs that it cannot read: otherwise each one would report them.
    expect(new Set(reports.all.flatMap(({ code }) => code ?? []))).toEqual(new Set(['handler_failed']));
    expect(letters.size).toBe(2);
  });
});
