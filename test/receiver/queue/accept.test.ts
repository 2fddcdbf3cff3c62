import {
  ConfigurationError,
  createMemoryStore,
  createReceiver,
  PermanentError,
  type Receiver,
} from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { awaitedLater } from '../../support/awaited-later.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { shutGate } from '../../support/gate.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { letterOf } from '../../support/letter-of.ts';
import { forwardedClock } from '../../support/monotonic-clock.ts';
import {
  accepted,
  type EndpointOptions,
  eventAt,
  openEndpoint,
  refused,
} from '../../support/open-endpoint.ts';
import { KEY } from '../../support/served.ts';
import { MINUTE_MS, stepClocked } from '../../support/step-clock.ts';
import { throwing } from '../../support/throwing.ts';
import { unanswered } from '../../support/unanswered.ts';
import { ListQueue } from './list-queue.ts';

const event = createEvent('transfer.succeeded');
const queued = { ...accepted('queued', event.id), status: 202 };

function open(options: EndpointOptions, register: (receiver: Receiver) => void = () => {}) {
  const queue = new ListQueue();
  const opened = openEndpoint({ queue, ...options }, (receiver) => {
    register(receiver);
    receiver.on('transfer.*', () => {}, { name: 'book', queue: true });
  });
  return opened.then((endpoint) => ({ ...endpoint, queue }));
}

/** The options of a receiver whose retries come when the test says so. */
function withClock() {
  const { clock, deadLetters, store } = stepClocked();
  return { clock, deadLetters, options: { now: clock.now, store, deadLetters } };
}

describe('an event with queued handlers', () => {
  test('fails with the code of the queue where that hangs, in the time that the platform leaves', async () => {
    const { queue, receiver } = await open({});
    queue.instead = unanswered;
    const reply = await receiver.receive({ ...deliveryOf(event), timeLimitMs: 1_000 });
    expect([reply.status, JSON.parse(reply.body).code]).toEqual([503, 'queue_unavailable']);
  });

  test('is not counted for ever if an aborted run enqueues it after its end', async () => {
    const held = new HeldHandler();
    const limits = { maxBodyBytes: 10_000, maxBufferedBytes: 10_000 };
    const { queue, send } = await open({ maxRunMs: 100, ...limits }, (receiver) =>
      receiver.on('transfer.*', held.handle, { name: 'check' }),
    );
    queue.isAway = true;
    const large = createEvent('transfer.succeeded', { note: 'x'.repeat(6_000) });
    expect(await send(large)).toEqual(refused(503, 'run_timeout'));
    (await held.calls.nth(1)).succeed();
    await expect.poll(() => queue.jobs.length).toBe(1);
    await expect.poll(() => send(large)).toEqual(accepted('duplicate', large.id));
  });

  test('is counted while its job waits for a connection, and does not wait if it does not fit', async () => {
    const gate = shutGate();
    const held = createEvent('transfer.succeeded', { note: 'x'.repeat(6_000) });
    const waiting = createEvent('transfer.succeeded', { note: 'x'.repeat(6_000) });
    const limits = { maxBodyBytes: 10_000, maxBufferedBytes: 10_000 };
    const { queue, send } = await open(limits, (receiver) =>
      receiver.on('transfer.*', ({ id }) => (id === held.id ? gate.pass() : undefined), { name: 'log' }),
    );
    queue.isAway = true;
    const waits: unknown[] = [];
    let add = (): void => {};
    const added = new Promise<void>((resolve) => (add = resolve));
    queue.instead = (_, options) => {
      waits.push(options?.waitMs);
      return added;
    };
    const answers = [awaitedLater(send(held))];
    await gate.held.nth(1);
    answers.push(awaitedLater(send(waiting)));
    await expect.poll(() => waits).toEqual([5_000]);
    expect(await send(createEvent('transfer.succeeded', { note: 'x'.repeat(6_000) }))).toEqual(
      refused(503, 'buffer_full'),
    );
    gate.open();
    await expect.poll(() => waits).toEqual([5_000, 0]);
    add();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([202, 202]);
  });

  test('may have a letter if the process stood still past its lease before its job was made', async () => {
    const forward = forwardedClock();
    const { queue, send } = await open({ leaseMs: 2_000 }, (receiver) =>
      receiver.on('transfer.*', () => forward(3_000), { name: 'check' }),
    );
    expect(await send(event)).toEqual(queued);
    expect(queue.jobs).toMatchObject([{ isParked: true }]);
  });

  test('is answered 202 once its job is durable, and 200 when it comes again', async () => {
    const { queue, reports, send } = await open({});
    let add = (): void => {};
    queue.instead = () => new Promise<void>((resolve) => (add = resolve));
    const answers = [send(event), send(event)];
    await expect.poll(() => queue.calls).toBe(1);
    expect(reports.all).toEqual([]);
    add();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 202]);
    expect(await send(event)).toEqual(accepted('duplicate', event.id));
    expect(queue.calls).toBe(1);
    expect(reports.all.map(({ outcome }) => outcome).sort()).toEqual(['duplicate', 'duplicate', 'queued']);
  });

  test('is not enqueued again if it comes again before the store has recorded it', async () => {
    const complete = () => Promise.reject(new Error('ECONNREFUSED'));
    const store = { ...createMemoryStore(), complete, commandTimeoutMs: 20 };
    const { queue, send } = await open({ store, leaseMs: 100 });
    expect(await send(event)).toEqual(queued);
    expect(await send(event)).toEqual(accepted('duplicate', event.id));
    expect(queue.calls).toBe(1);
  });

  test('is a job with the raw body, the headers without credentials, the times and what was handled', async () => {
    const { clock, options } = withClock();
    const now = eventAt(clock.startedAt);
    const { queue, send } = await open(
      {
        ...options,
        authentication: [{ type: 'NONE' }, { type: 'BASIC', basic: { username: 'u', password: 'p' } }],
      },
      (receiver) => receiver.on('transfer.*', () => {}, { name: 'log' }),
    );
    const body = ` ${JSON.stringify(now)}`;
    const headers = { authorization: `Basic ${btoa('u:p')}`, cookie: 'a=b', 'x-trace': 't' };
    expect(await send(body, headers)).toMatchObject({ status: 202 });
    const [job] = queue.jobs;
    expect(job).toMatchObject({
      id: now.id,
      type: now.type,
      receivedAt: clock.startedAt,
      queuedAt: clock.startedAt,
      handled: ['log'],
      handlers: ['book'],
      isParked: false,
    });
    expect(Buffer.from(job?.rawBody ?? []).toString()).toBe(body);
    expect(job?.headers).toMatchObject({ 'x-trace': ['t'], 'x-service-signature': [expect.any(String)] });
    expect(Object.keys(job?.headers ?? {})).not.toContain('authorization');
    expect(Object.keys(job?.headers ?? {})).not.toContain('cookie');
    expect(queue.take()).toMatchObject({ version: 1, rawBody: Buffer.from(body).toString('base64') });
  });

  test('fails where a handler before the answer fails, and is queued once after the retry', async () => {
    const runs: string[] = [];
    const { queue, send } = await open({}, (receiver) =>
      receiver
        .on('transfer.*', () => runs.push('log'), { name: 'log' })
        .on(
          'transfer.*',
          () => {
            runs.push('notify');
            if (runs.length < 4) throw new Error('away');
          },
          { name: 'notify' },
        ),
    );
    const failed = refused(500, 'handler_failed');
    for (const answer of [failed, failed]) expect(await send(event)).toEqual(answer);
    expect(queue.jobs).toEqual([]);
    for (const answer of [queued, accepted('duplicate', event.id)]) expect(await send(event)).toEqual(answer);
    expect(runs).toEqual(['log', 'notify', 'notify', 'notify']);
    expect(queue.jobs.map(({ handled }) => handled)).toEqual([['log', 'notify']]);
  });

  test('does not run its inline handlers again where only the queue was away', async () => {
    const runs: string[] = [];
    const { queue, reports, send } = await open({}, (receiver) =>
      receiver.on('transfer.*', () => runs.push('log'), { name: 'log' }),
    );
    queue.instead = () => Promise.reject(new Error('OOM'));
    expect(await send(event)).toEqual(refused(503, 'queue_unavailable'));
    expect(reports.all[0]?.error?.message).toContain('OOM');
    queue.instead = undefined;
    expect(await send(event)).toEqual(queued);
    expect(runs).toEqual(['log']);
  });

  test('is answered 503 in time by a queue that hangs, and parked where no retry will come', async () => {
    const { clock, deadLetters, options } = withClock();
    const { queue, send } = await open({ ...options, deadlineMs: 1_000 });
    queue.instead = unanswered;
    const young = eventAt(clock.startedAt);
    expect(await send(young)).toEqual(refused(503, 'queue_unavailable'));
    clock.step(14 * MINUTE_MS);
    expect(await send(young)).toEqual(accepted('parked', young.id));
    expect(await letterOf(deadLetters, young.id)).toMatchObject({
      reason: 'queue_unavailable',
      runningUntil: undefined,
    });
  });

  test('keeps the letter that it was parked with until a worker has handled it', async () => {
    const { clock, deadLetters, options } = withClock();
    const { queue, receiver, send } = await open(options);
    const old = eventAt(clock.startedAt);
    clock.step(14 * MINUTE_MS);
    expect(await send(old)).toEqual({ ...accepted('queued', old.id), status: 202 });
    expect(queue.jobs[0]?.isParked).toBe(true);
    await letterOf(deadLetters, old.id);
    expect(await receiver.dispatch(queue.take(), { attempt: 1, final: true })).toMatchObject({
      outcome: 'processed',
    });
    expect(await deadLetters.get(old.id)).toBeUndefined();
  });

  test('leaves alone the letter that a worker has stored before the answer', async () => {
    const { clock, deadLetters, options } = withClock();
    const worker = createReceiver({ signingKey: KEY, queue: new ListQueue(), ...options })
      .observe(() => {})
      .on('transfer.*', throwing(new PermanentError('no such account')), { name: 'book', queue: true });
    const { queue, send } = await open(options);
    queue.instead = (job) => worker.dispatch(job, { attempt: 1, final: false });
    const old = eventAt(clock.startedAt);
    clock.step(14 * MINUTE_MS);
    expect(await send(old)).toMatchObject({ status: 202 });
    expect(await letterOf(deadLetters, old.id)).toMatchObject({ reason: 'handler_failed_permanently' });
  });

  test('meets no other event in the store, whatever their ids look like', async () => {
    const { queue, receiver, send } = await open({});
    const ids = ['a', 'accepted:a', 'handled:accepted:a', 'handled:a', 'accepted:accepted:a'];
    for (const id of ids) expect(await send({ ...event, id })).toMatchObject({ status: 202 });
    for (const id of ids)
      expect(await receiver.dispatch(queue.take(), { attempt: 1, final: false })).toMatchObject({
        outcome: 'processed',
        event: { id },
      });
  });
});

describe('on() with queue: true', () => {
  test.each([
    ['a name', { queue: true }, /name of on\(\) is needed/],
    ['the option queue', { queue: true, name: 'book' }, /needs the option queue of createReceiver/],
    ...['yes', '', 0, null].map((queue): [string, object, RegExp] => [
      `a boolean, not ${JSON.stringify(queue)}`,
      { queue, name: 'book' },
      /queue of on\(\) must be true or false/,
    ]),
  ])('needs %s', (_what, options, message) => {
    const given = message.source.includes('option queue') ? {} : { queue: new ListQueue() };
    const receiver = createReceiver({ signingKey: KEY, ...given });
    const on = (): unknown => Reflect.apply(receiver.on, receiver, ['*', () => {}, options]);
    expect(on).toThrow(ConfigurationError);
    expect(on).toThrow(message);
  });

  test('and a queue needs its methods', () => {
    const options = { signingKey: KEY, queue: { add: () => {} } };
    expect(() => Reflect.apply(createReceiver, undefined, [options])).toThrow(/close is missing/);
  });
});
