import { createReceiver, type DeadLetter, PermanentError, type Receiver } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { HeldHandler } from '../../support/held-handler.ts';
import { accepted, eventAt, on, refused } from '../../support/open-endpoint.ts';
import { MINUTE_MS, stepClocked } from '../../support/step-clock.ts';
import { throwing } from '../../support/throwing.ts';
import { ListQueue } from '../queue/list-queue.ts';
import { openJournaledDirectly } from './journaled.ts';

const SOURCE = { source: 'events.list' };
const event = createEvent('transfer.succeeded');

describe('a queued event', () => {
  /** A receiver that enqueues, and a worker with the same journal, store and clock. */
  function openQueued(handle: () => unknown) {
    const { clock, deadLetters, store } = stepClocked();
    const queue = new ListQueue();
    const options = { now: clock.now, deadLetters, queue, store };
    const register = (receiver: Receiver): void =>
      void receiver.on('*', () => {}, { name: 'book' }).on('*', handle, { name: 'mail', queue: true });
    const front = openJournaledDirectly(options, register);
    const openWorker = () => openJournaledDirectly({ ...options, journal: front.journal }, register);
    const [worker, another] = [openWorker(), openWorker()];
    const dated = eventAt(clock.startedAt);
    const enqueue = async () => {
      expect(await front.send(dated)).toMatchObject({ status: 202 });
      clock.moveTo(MINUTE_MS);
      return queue.take();
    };
    const closeAll = async (receivers = [another, worker, front]) => {
      for (const { receiver } of receivers) await receiver.close();
      return front.records.get(dated.id);
    };
    return { another, closeAll, dated, enqueue, front, worker };
  }

  test.each(['front', 'worker'] as const)(
    'is queued, and then processed by the worker: the %s writes first',
    async (earlier) => {
      const { closeAll, dated, enqueue, front, worker } = openQueued(() => {});
      const report = await worker.receiver.dispatch(await enqueue(), { attempt: 1, final: false });
      expect(report.outcome).toBe('processed');
      const inOrder = earlier === 'front' ? [front, worker] : [worker, front];
      await closeAll(inOrder.slice(0, 1));
      expect(front.records.get(dated.id)?.outcome).toBe(earlier === 'front' ? 'queued' : 'processed');
      expect(await closeAll(inOrder)).toMatchObject({
        outcome: 'processed',
        deliveries: 1,
        attempts: 1,
        handled: expect.arrayContaining(['book', 'mail']),
        rawBody: expect.any(Uint8Array),
      });
    },
  );

  test('stays queued while no worker has it, and has the names before the answer', async () => {
    const { closeAll, enqueue } = openQueued(() => {});
    await enqueue();
    expect(await closeAll()).toMatchObject({ outcome: 'queued', code: undefined, handled: ['book'] });
  });

  test('has failed after an attempt of the worker, which does not count as a delivery', async () => {
    const { closeAll, dated, enqueue, worker } = openQueued(throwing('no mail server'));
    await worker.receiver.dispatch(await enqueue(), { attempt: 2, final: false });
    expect(await closeAll()).toMatchObject({
      outcome: 'failed',
      code: 'handler_failed',
      deliveries: 1,
      attempts: 2,
      lastReceivedAt: Date.parse(dated.created_at),
    });
  });

  test('is parked by the last attempt of the worker', async () => {
    const { closeAll, enqueue, worker } = openQueued(throwing('no mail server'));
    const report = await worker.receiver.dispatch(await enqueue(), { attempt: 3, final: true });
    expect(report.outcome).toBe('parked');
    expect(await closeAll()).toMatchObject({ outcome: 'parked', code: 'handler_failed', attempts: 3 });
  });

  test('that its queue has given up is parked, at the time of its delivery', async () => {
    const { closeAll, dated, enqueue, worker } = openQueued(() => {});
    const failure = { code: 'run_abandoned', message: 'two workers died' } as const;
    const report = await worker.receiver.dispatch(await enqueue(), { attempt: 3, final: true, failure });
    expect(report.outcome).toBe('parked');
    expect(await closeAll()).toMatchObject({
      outcome: 'parked',
      code: 'run_abandoned',
      deliveries: 1,
      lastReceivedAt: Date.parse(dated.created_at),
    });
  });

  test('that another worker finds done is not written again', async () => {
    const { another, closeAll, enqueue, front, worker } = openQueued(() => {});
    const job = await enqueue();
    await worker.receiver.dispatch(job, { attempt: 1, final: false });
    expect(await another.receiver.dispatch(job, { attempt: 2, final: false })).toMatchObject({
      outcome: 'duplicate',
    });
    await closeAll();
    expect(front.batches.all).toHaveLength(2);
  });
});

describe('an accepted event', () => {
  test('has no delivery, and the time at which it was accepted', async () => {
    const { clock, store } = stepClocked();
    const { onlyEntry, receiver } = openJournaledDirectly({ now: clock.now, store });
    const dated = eventAt(clock.startedAt);
    clock.moveTo(MINUTE_MS);
    expect(await receiver.accept(dated, SOURCE)).toMatchObject({ outcome: 'processed' });
    clock.moveTo(2 * MINUTE_MS);
    expect(await receiver.accept(dated, SOURCE)).toMatchObject({ outcome: 'duplicate' });
    expect(await onlyEntry()).toMatchObject({
      outcome: 'processed',
      deliveries: 0,
      attempts: 1,
      firstReceivedAt: clock.startedAt + MINUTE_MS,
      lastReceivedAt: clock.startedAt + MINUTE_MS,
      resource: dated.data.id,
      rawBody: expect.any(Uint8Array),
      headers: {},
    });
  });

  test('has its first delivery counted, if that comes later', async () => {
    const { onlyEntry, receiver, send } = openJournaledDirectly();
    await receiver.accept(event, SOURCE);
    expect(await send(event)).toEqual(accepted('duplicate', event.id));
    expect(await onlyEntry()).toMatchObject({ outcome: 'processed', deliveries: 1 });
  });

  test('is parked if its handlers fail, and writes nothing while it waits for its replay', async () => {
    const { clock, deadLetters, store } = stepClocked();
    const options = { now: clock.now, deadLetters, store };
    const { onlyEntry, receiver } = openJournaledDirectly(options, on('*', throwing('no mail server')));
    const dated = eventAt(clock.startedAt);
    expect(await receiver.accept(dated, SOURCE)).toMatchObject({ outcome: 'parked' });
    clock.moveTo(MINUTE_MS);
    expect(await receiver.accept(dated, SOURCE)).toMatchObject({ outcome: 'parked' });
    expect(await onlyEntry()).toMatchObject({
      outcome: 'parked',
      code: 'handler_failed',
      deliveries: 0,
      attempts: 1,
      lastReceivedAt: clock.startedAt,
    });
  });

  test.each([
    ['is too old', eventAt(Date.now() - 48 * 60 * MINUTE_MS), 'rejected'],
    ['is not an event', '{}', 'rejected'],
    ['has no handler', createEvent('dispute.created'), 'ignored'],
  ])('that %s leaves no entry', async (_title, given, outcome) => {
    const { entries, receiver } = openJournaledDirectly(
      {},
      on('transfer.*', () => {}),
    );
    expect(await receiver.accept(given, SOURCE)).toMatchObject({ outcome });
    expect(await entries()).toEqual([]);
  });

  test('that a closing receiver refuses leaves no entry', async () => {
    const { entries, receiver } = openJournaledDirectly();
    await receiver.close();
    expect(await receiver.accept(event, SOURCE)).toMatchObject({ code: 'closing' });
    expect(await entries()).toEqual([]);
  });

  test('that joins the run of a delivery and parks it does not change its times', async () => {
    const { clock, deadLetters, store } = stepClocked();
    const held = new HeldHandler();
    const options = { now: clock.now, deadLetters, store };
    const { onlyEntry, receiver, send } = openJournaledDirectly(options, on('*', held.handle));
    const dated = eventAt(clock.startedAt);
    const delivered = send(dated);
    const call = await held.calls.nth(1);
    clock.moveTo(1_000);
    const fetched = receiver.accept(dated, SOURCE);
    call.fail(new Error('no mail server'));
    expect(await delivered).toEqual(refused(500, 'handler_failed'));
    expect(await fetched).toMatchObject({ outcome: 'parked' });
    expect(await onlyEntry()).toMatchObject({
      outcome: 'parked',
      code: 'handler_failed',
      deliveries: 1,
      lastReceivedAt: clock.startedAt,
    });
  });
});

test('a replay of an event that was handled meanwhile writes nothing', async () => {
  const { deadLetters, store } = stepClocked();
  const letters: DeadLetter[] = [];
  const { entries, send } = openJournaledDirectly(
    { deadLetters: { ...deadLetters, put: async (letter) => void letters.push(letter) }, store },
    on('*', throwing(new PermanentError('no amount'))),
  );
  expect(await send(event)).toEqual(accepted('parked', event.id));
  expect(await entries()).toHaveLength(1);
  const next = openJournaledDirectly({ deadLetters, store });
  expect(await next.send(event)).toEqual(accepted('processed', event.id));
  const last = openJournaledDirectly({ deadLetters, store });
  for (const letter of letters) {
    await deadLetters.put(letter);
    expect(await last.receiver.replay(letter)).toMatchObject({ outcome: 'duplicate' });
  }
  expect(await last.entries()).toEqual([]);
});

test('a dead letter of another provider leaves no entry', async () => {
  const { entries, receiver } = openJournaledDirectly();
  const letter = {
    id: 'handled:from:4:acme:0::evt_1',
    eventId: 'evt_1',
    provider: 'acme',
    rawBody: Buffer.from('{}'),
    headers: {},
    receivedAt: 0,
    parkedAt: 0,
    attempts: 1,
    handled: [],
    reason: 'handler_failed',
    message: 'no mail server',
  };
  expect(await receiver.replay(letter)).toMatchObject({ code: 'provider_mismatch' });
  expect(await entries()).toEqual([]);
});

test('without a journal there is nothing to write, and no health of it', async () => {
  const receiver = createReceiver({ signingKey: 'k' }).on('*', () => {});
  expect((await receiver.health()).journal).toBeUndefined();
});
