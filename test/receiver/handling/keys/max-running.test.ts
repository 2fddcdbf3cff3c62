import { setImmediate } from 'node:timers/promises';
import { createMemoryStore, createReceiver, PermanentError, type Store } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { deliveryOf } from '../../../support/delivery-of.ts';
import { flowingTime } from '../../../support/fake-time.ts';
import { Gate } from '../../../support/gate.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { letterOf } from '../../../support/letter-of.ts';
import { accepted, eventAt, openDirectly, openEndpoint, refused } from '../../../support/open-endpoint.ts';
import { KEY } from '../../../support/served.ts';
import { MINUTE_MS, stepClocked } from '../../../support/step-clock.ts';
import { ListQueue } from '../../queue/list-queue.ts';

describe('maxRunning', () => {
  test('lets so many handlers run at once; other deliveries wait for room', async () => {
    const held = new HeldHandler();
    const { send } = await openEndpoint({ maxRunning: 2 }, (receiver) => receiver.on('*', held.handle));
    const answers = Array.from({ length: 5 }, () => send(createEvent('transfer.created')));
    for (let count = 2; count <= 5; count += 1) {
      const call = await held.calls.nth(count);
      expect(held.calls.all).toHaveLength(count);
      held.calls.all[count - 2]?.succeed();
      if (count === 5) call.succeed();
    }
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
  });

  test('counts the handlers of one event, and gives room to one with more handlers than there is', async () => {
    const { handle, calls } = new HeldHandler();
    const { send } = await openEndpoint({ maxRunning: 3 }, (receiver) =>
      receiver
        .on('transfer.*', handle)
        .on('transfer.*', handle)
        .on('dispute.*', handle)
        .on('dispute.*', handle)
        .on('dispute.*', handle)
        .on('dispute.*', handle),
    );
    const types = ['transfer.created', 'transfer.created', 'transfer.created'] as const;
    const answers = types.map((type) => send(createEvent(type)));
    for (const count of [2, 4, 6]) {
      await calls.nth(count);
      expect(calls.all).toHaveLength(count);
      for (const { succeed } of calls.all) succeed();
    }
    await Promise.all(answers);
    const answer = send(createEvent('dispute.created'));
    // All four at once: none of them has ended.
    await calls.nth(10);
    for (const { succeed } of calls.all) succeed();
    expect(await answer).toMatchObject({ status: 200 });
  });

  test('gives the room back of an event whose data the schema refuses: its handlers have not begun', async () => {
    flowingTime();
    const transfer = z.object({ amount: z.number() });
    const { send } = openDirectly({ maxRunning: 1, schemas: { transfer } });
    const refusedByIt = { ...eventAt(Date.now()), data: {} };
    expect(await send(refusedByIt)).toEqual(refused(500, 'data_invalid'));
    const other = createEvent('dispute.won');
    expect(await send(other)).toEqual(accepted('processed', other.id));
  });

  test('answers 503 where there is no room before the deadline, and runs the event at its retry', async () => {
    flowingTime();
    const held = new HeldHandler();
    const { reports, send } = openDirectly({ maxRunning: 1 }, (receiver) => receiver.on('*', held.handle));
    const first = send(createEvent('transfer.created'));
    await held.calls.nth(1);
    const event = createEvent('transfer.created');
    expect(await send(event)).toEqual(refused(503, 'too_many_running'));
    expect(await first).toEqual(refused(503, 'deadline_reached'));
    held.calls.all[0]?.succeed();
    await reports.first(({ late }) => late);
    const second = send(event);
    (await held.calls.nth(2)).succeed();
    expect(await second).toEqual(accepted('processed', event.id));
  });

  test('is taken by a deaf handler until it has ended, and by no handler that is done', async () => {
    flowingTime();
    const held = new HeldHandler();
    const options = { maxRunning: 1, maxRunMs: 2_000 };
    const { send } = openDirectly(options, (receiver) => receiver.on('*', held.handle));
    expect(await send(createEvent('transfer.created'))).toEqual(refused(503, 'run_timeout'));
    expect(await send(createEvent('transfer.created'))).toEqual(refused(503, 'too_many_running'));
    held.calls.all[0]?.fail(new PermanentError('at last'));
    const event = createEvent('transfer.created');
    const answer = send(event);
    (await held.calls.nth(2)).succeed();
    expect(await answer).toEqual(accepted('processed', event.id));
  });

  test('parks an event for which there is no room where no retry will come', async () => {
    flowingTime();
    const { clock, deadLetters } = stepClocked();
    const held = new HeldHandler();
    const store = createMemoryStore({ now: clock.now });
    const options = { maxRunning: 1, now: clock.now, store, deadLetters };
    const { send } = openDirectly(options, (receiver) => receiver.on('*', held.handle));
    const first = send(eventAt(clock.startedAt));
    await held.calls.nth(1);
    clock.step(14 * MINUTE_MS);
    const old = eventAt(clock.startedAt);
    expect(await send(old)).toEqual(accepted('parked', old.id));
    expect(await letterOf(deadLetters, old.id)).toMatchObject({ reason: 'too_many_running' });
    held.calls.all[0]?.succeed();
    await first;
  });

  test('does not keep events with queued handlers alone, jobs and replays', async () => {
    const held = new HeldHandler();
    const queue = new ListQueue();
    const { receiver, send } = await openEndpoint({ maxRunning: 1, queue }, (fresh) =>
      fresh.on('transfer.*', held.handle).on('dispute.*', () => {}, { name: 'book', queue: true }),
    );
    const running = send(createEvent('transfer.created'));
    const call = await held.calls.nth(1);
    expect(await send(createEvent('dispute.created'))).toMatchObject({ status: 202 });
    expect(await receiver.dispatch(queue.take(), { attempt: 1, final: false })).toMatchObject({
      outcome: 'processed',
    });
    call.succeed();
    expect(await running).toMatchObject({ status: 200 });
  });

  test('lets close() end those that wait', async () => {
    const held = new HeldHandler();
    const { receiver, send } = await openEndpoint({ maxRunning: 1 }, (fresh) => fresh.on('*', held.handle));
    const first = createEvent('transfer.created');
    const answers = [send(first)];
    await held.calls.nth(1);
    answers.push(send(createEvent('transfer.created')));
    expect(await receiver.close({ graceMs: 200 })).toEqual({ abandoned: [first.id] });
    expect((await Promise.all(answers)).map(({ body }) => body)).toEqual([
      expect.objectContaining({ code: 'run_closed' }),
      expect.objectContaining({ code: expect.stringMatching(/run_closed|closing/) }),
    ]);
  });

  test('keeps no process alive with those that have waited, once it is closed', async () => {
    const held = new HeldHandler();
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const receiver = createReceiver({ signingKey: KEY, maxRunning: 1 });
    receiver.on('*', held.handle).observe(() => {});
    const before = timers();
    const replies = [receiver.receive(deliveryOf(createEvent('transfer.created')))];
    await held.calls.nth(1);
    replies.push(receiver.receive(deliveryOf(createEvent('transfer.created'))));
    await setImmediate();
    await receiver.close({ graceMs: 0 });
    expect((await Promise.all(replies)).map(({ status }) => status)).toEqual([503, 503]);
    // Timers of earlier tests may end meanwhile, and short ones begin; that of a wait would last 19 seconds.
    await expect.poll(timers, { timeout: 10_000 }).toBeLessThanOrEqual(before);
  });

  test('takes no memory for bodies where there is room at once', async () => {
    const store = createMemoryStore();
    const gate = new Gate();
    const claim: Store['claim'] = (request) => gate.pass().then(() => store.claim(request));
    const keys = new Gate();
    const signingKey = (): Promise<string> => keys.pass().then(() => KEY);
    const limits = { maxRunning: 5, maxBodyBytes: 1_000, maxBufferedBytes: 1_000 };
    const { send } = await openEndpoint({ ...limits, signingKey, store: { ...store, claim } });
    const large = () => createEvent('transfer.created', { pad: 'x'.repeat(700) });
    gate.shut();
    const first = send(large());
    await gate.held.nth(1);
    keys.shut();
    const second = send(large());
    await keys.held.nth(1);
    gate.open();
    expect(await first).toMatchObject({ status: 200 });
    keys.open();
    expect(await second).toMatchObject({ status: 200 });
  });
});
