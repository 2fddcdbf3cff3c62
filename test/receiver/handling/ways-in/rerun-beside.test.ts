import { createMemoryStore, type Receiver, type Store } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { fakeTime, passUntil } from '../../../support/fake-time.ts';
import { Gate } from '../../../support/gate.ts';
import { handledEntry } from '../../../support/handled-entry.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { letterOf } from '../../../support/letter-of.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import { accepted, type EndpointOptions, openDirectly } from '../../../support/open-endpoint.ts';
import { ListQueue } from '../../queue/list-queue.ts';
import { asUserStore } from '../run/user-store.ts';
import { FIX, handledIn } from './rerunning.ts';

const event = createEvent('transfer.succeeded');
const entry = handledEntry(event);
const RUNNING = { outcome: 'busy', status: 503, code: 'event_running' };

/** Two receivers of one store, as two processes are, whose handler "book" the test holds. */
function openTwo(options: EndpointOptions, register: (receiver: Receiver) => unknown = () => {}) {
  const held = new HeldHandler();
  const open = () =>
    openDirectly(options, (receiver) => {
      receiver.on('*', held.handle, { name: 'book' });
      register(receiver);
    });
  return { held, one: open(), other: open() };
}

describe('an event that a delivery handles', () => {
  test.each(['one', 'other'] as const)(
    'is left alone: the delivery came to "one", the rerun to "%s"',
    async (name) => {
      const { held, ...receivers } = openTwo({ store: createMemoryStore() });
      const delivered = receivers.one.send(event);
      const call = await held.calls.nth(1);
      expect(await receivers[name].receiver.rerun(entry, FIX)).toMatchObject({
        ...RUNNING,
        attempt: undefined,
        handlers: [],
        error: { message: expect.stringContaining('is being handled') },
      });
      call.succeed();
      expect(await delivered).toEqual(accepted('processed', event.id));
      const again = receivers[name].receiver.rerun(entry, FIX);
      (await held.calls.nth(2)).succeed();
      expect(await again).toMatchObject({ outcome: 'processed' });
    },
  );

  test('is left alone, although the run of the delivery has no claim', async () => {
    const memory = createMemoryStore();
    let isAway = true;
    const claim: Store['claim'] = (request) =>
      isAway ? Promise.reject(new Error('ECONNREFUSED')) : memory.claim(request);
    const { held, one } = openTwo({ store: { ...memory, claim }, onStoreFailure: 'process' });
    const delivered = one.send(event);
    const call = await held.calls.nth(1);
    isAway = false;
    expect(await one.receiver.rerun(entry, FIX)).toMatchObject(RUNNING);
    call.succeed();
    expect(await delivered).toEqual(accepted('processed', event.id));
  });

  test('is left alone, although the store has no peek', async () => {
    const store = asUserStore(await handledIn(createEvent('transfer.succeeded')));
    const { held, one, other } = openTwo({ store });
    const delivered = one.send(event);
    const call = await held.calls.nth(1);
    for (const { receiver } of [one, other]) expect(await receiver.rerun(entry, FIX)).toMatchObject(RUNNING);
    call.succeed();
    expect(await delivered).toEqual(accepted('processed', event.id));
  });
});

test('an event is left alone while it is accepted, and while it is replayed', async () => {
  const deadLetters = createMapDeadLetters();
  const { held, one, other } = openTwo({ store: createMemoryStore(), deadLetters });
  const expectRunning = async (): Promise<void> => {
    for (const { receiver } of [one, other]) expect(await receiver.rerun(entry, FIX)).toMatchObject(RUNNING);
  };
  const accept = one.receiver.accept(event, { source: 'an export' });
  const first = await held.calls.nth(1);
  await expectRunning();
  first.fail(new Error('no database'));
  expect(await accept).toMatchObject({ outcome: 'parked' });
  const replay = one.receiver.replay(await letterOf(deadLetters, event.id));
  const second = await held.calls.nth(2);
  await expectRunning();
  second.succeed();
  expect(await replay).toMatchObject({ outcome: 'processed' });
  expect(held.calls.all).toHaveLength(2);
});

describe('a delivery during a rerun', () => {
  test.each(['one', 'other'] as const)(
    'of a completed event is a duplicate, at once ("%s")',
    async (name) => {
      const { held, ...receivers } = openTwo({ store: await handledIn(event) });
      const rerun = receivers.one.receiver.rerun(entry, FIX);
      const call = await held.calls.nth(1);
      expect(await receivers[name].send(event)).toEqual(accepted('duplicate', event.id));
      call.succeed();
      expect(await rerun).toMatchObject({ outcome: 'processed' });
      expect(held.calls.all).toHaveLength(1);
    },
  );

  test.each(['one', 'other'] as const)(
    'of an event of which a handler has failed waits, and then runs what is unfinished ("%s")',
    async (name) => {
      const pass = fakeTime();
      const mails: unknown[] = [];
      let isMended = false;
      const { held, ...receivers } = openTwo({ store: createMemoryStore() }, (receiver) =>
        receiver.on(
          '*',
          (_event, { attempt }) => {
            if (!isMended) throw new Error('no mail server');
            mails.push(attempt);
          },
          { name: 'mail' },
        ),
      );
      const { receiver, send } = receivers.one;
      const first = send(event);
      (await held.calls.nth(1)).succeed();
      expect(await first).toHaveProperty('status', 500);
      isMended = true;
      const rerun = receiver.rerun(entry, FIX);
      const call = await held.calls.nth(2);
      let isAnswered = false;
      const retried = receivers[name].send(event).finally(() => {
        isAnswered = true;
      });
      await pass(5_000);
      expect([isAnswered, mails]).toEqual([false, []]);
      call.succeed();
      expect(await passUntil(pass, rerun)).toMatchObject({ outcome: 'processed' });
      expect(await passUntil(pass, retried)).toEqual(accepted('processed', event.id));
      // A hold is not an attempt, and "book" has not run a third time.
      expect(mails).toEqual([2]);
      expect(held.calls.all).toHaveLength(2);
    },
  );
});

describe('with handlers for workers', () => {
  const both = handledEntry(event, { handled: ['mail', 'book'] });

  /** Two receivers of one queue. "book" runs before the answer, and "mail" in a worker. */
  function openQueued() {
    const queue = new ListQueue();
    const mail = new HeldHandler();
    const opened = openTwo({ store: createMemoryStore(), queue }, (receiver) =>
      receiver.on('*', mail.handle, { name: 'mail', queue: true }),
    );
    const enqueue = async (): Promise<void> => {
      const sent = opened.one.send(event);
      (await opened.held.calls.nth(1)).succeed();
      expect(await sent).toHaveProperty('status', 202);
    };
    return { ...opened, enqueue, mail, queue };
  }

  test('a handler for workers runs where rerun is called, and nothing is enqueued', async () => {
    const { enqueue, mail, one, queue } = openQueued();
    await enqueue();
    const job = one.receiver.dispatch(queue.take(), { attempt: 1, final: false });
    (await mail.calls.nth(1)).succeed();
    expect(await job).toMatchObject({ outcome: 'processed' });
    const rerun = one.receiver.rerun(both, { handlers: ['mail'], run: 'fix' });
    const call = await mail.calls.nth(2);
    expect(call.context.rerun).toEqual({ run: 'fix' });
    call.succeed();
    expect(await rerun).toMatchObject({ outcome: 'processed', handlers: [{ name: 'mail', ok: true }] });
    expect([queue.calls, queue.jobs]).toEqual([1, []]);
  });

  test('the event is left alone while it is enqueued', async () => {
    const { held, one, other, queue } = openQueued();
    const adding = new Gate();
    queue.instead = adding.pass;
    adding.shut();
    const sent = one.send(event);
    (await held.calls.nth(1)).succeed();
    await adding.held.nth(1);
    for (const { receiver } of [one, other]) expect(await receiver.rerun(both, FIX)).toMatchObject(RUNNING);
    adding.open();
    expect(await sent).toHaveProperty('status', 202);
  });

  test('the event is left alone while a worker has its job', async () => {
    const { enqueue, held, mail, one, other, queue } = openQueued();
    await enqueue();
    const job = one.receiver.dispatch(queue.take(), { attempt: 1, final: false });
    const call = await mail.calls.nth(1);
    for (const { receiver } of [one, other]) expect(await receiver.rerun(both, FIX)).toMatchObject(RUNNING);
    call.succeed();
    expect(await job).toMatchObject({ outcome: 'processed' });
    expect(held.calls.all).toHaveLength(1);
  });

  test('a delivery and a job during a rerun of an enqueued event find it handled and busy', async () => {
    const pass = fakeTime();
    const { enqueue, held, mail, one, other, queue } = openQueued();
    await enqueue();
    const rerun = one.receiver.rerun(both, FIX);
    const call = await held.calls.nth(2);
    expect(await other.send(event)).toEqual(accepted('duplicate', event.id));
    const job = queue.take();
    const dispatched = other.receiver.dispatch(job, { attempt: 1, final: false });
    expect(await passUntil(pass, dispatched)).toMatchObject({ outcome: 'busy', code: 'event_running' });
    call.succeed();
    expect(await rerun).toMatchObject({ outcome: 'processed' });
    const retried = other.receiver.dispatch(job, { attempt: 1, final: false });
    (await mail.calls.nth(1)).succeed();
    expect(await retried).toMatchObject({ outcome: 'processed' });
  });
});

test('maxRunning does not hold up a rerun', async () => {
  const { held, one } = openTwo({ maxRunning: 1 });
  const delivered = one.send(createEvent('transfer.succeeded'));
  const running = await held.calls.nth(1);
  const rerun = one.receiver.rerun(entry, FIX);
  (await held.calls.nth(2)).succeed();
  expect(await rerun).toMatchObject({ outcome: 'processed' });
  running.succeed();
  expect(await delivered).toHaveProperty('status', 200);
});

test('a rerun waits for the concurrency key of its handler, and is busy if that is not given back', async () => {
  const pass = fakeTime();
  const held = new HeldHandler();
  const { receiver, send } = openDirectly({}, (opened) =>
    opened.on('*', held.handle, { name: 'book', concurrencyKey: () => 'one' }),
  );
  const delivered = send(createEvent('transfer.succeeded'));
  const call = await held.calls.nth(1);
  expect(await passUntil(pass, receiver.rerun(entry, FIX))).toMatchObject({
    outcome: 'busy',
    code: 'key_busy',
    handlers: [],
  });
  const waiting = receiver.rerun(entry, FIX);
  await pass(1_000);
  expect(held.calls.all).toHaveLength(1);
  call.succeed();
  (await passUntil(pass, held.calls.nth(2))).succeed();
  expect(await passUntil(pass, waiting)).toMatchObject({ outcome: 'processed' });
  expect(await passUntil(pass, delivered)).toHaveProperty('status', 200);
});
