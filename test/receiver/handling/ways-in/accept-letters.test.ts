import { createMemoryStore, type QueuedJob, type Receiver } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { Gate } from '../../../support/gate.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import { forwardedClock } from '../../../support/monotonic-clock.ts';
import { accepted, openDirectly } from '../../../support/open-endpoint.ts';
import { Seen } from '../../../support/seen.ts';
import { throwing } from '../../../support/throwing.ts';
import { SOURCE } from './counting.ts';

const LEASE_MS = 2_000;

/** The parts that several receivers share, as processes do. */
function share() {
  return { store: createMemoryStore(), deadLetters: createMapDeadLetters(), leaseMs: LEASE_MS };
}

test('after a crash the dead letter is stored before the handlers run; after a second one they do not', async () => {
  const forward = forwardedClock();
  const shared = share();
  const event = createEvent('transfer.succeeded');
  const held = new HeldHandler();
  // An accept that never ends, as far as the others can tell, is one whose process has died.
  const begin = (call: number) => {
    const report = openDirectly(shared, (opened) => opened.on('*', held.handle)).receiver.accept(
      event,
      SOURCE,
    );
    return { report, running: held.calls.nth(call) };
  };
  const first = begin(1);
  const ofFirst = await first.running;
  expect(await shared.deadLetters.get(event.id)).toBeUndefined();
  forward(LEASE_MS);
  const second = begin(2);
  const ofSecond = await second.running;
  expect(await shared.deadLetters.get(event.id)).toMatchObject({
    reason: 'run_abandoned',
    runningUntil: expect.any(Number),
  });
  forward(LEASE_MS);
  const third = openDirectly(shared, (opened) => opened.on('*', throwing('it ran')));
  expect(await third.receiver.accept(event, SOURCE)).toMatchObject({
    outcome: 'parked',
    code: 'run_abandoned',
  });
  expect(await shared.deadLetters.get(event.id)).not.toHaveProperty('runningUntil', expect.any(Number));
  ofFirst.succeed();
  ofSecond.succeed();
  await Promise.all([first.report, second.report]);
  expect(await shared.deadLetters.get(event.id)).toBeUndefined();
});

test('a dead letter that is stored while another process stands still goes once that has handled it', async () => {
  const forward = forwardedClock();
  const shared = share();
  const event = createEvent('transfer.succeeded');
  const other = openDirectly(shared, (opened) => opened.on('*', throwing('no database')));
  const { send } = openDirectly(shared, (opened) =>
    opened.on('*', async () => {
      forward(LEASE_MS);
      expect(await other.receiver.accept(event, SOURCE)).toMatchObject({ outcome: 'parked' });
    }),
  );
  expect(await send(event)).toEqual(accepted('processed', event.id));
  expect(await shared.deadLetters.get(event.id)).toBeUndefined();
});

test('a dead letter that is written late goes if its event was handled meanwhile', async () => {
  const shared = share();
  const event = createEvent('transfer.succeeded');
  const held = new HeldHandler();
  const writing = new Gate();
  const written = new Seen<string>();
  const deadLetters = {
    ...shared.deadLetters,
    put: async (letter: Parameters<typeof shared.deadLetters.put>[0]) => {
      await writing.pass();
      await shared.deadLetters.put(letter);
      written.add(letter.id);
    },
  };
  const late = { ...shared, deadLetters, deadlineMs: 200 };
  const { receiver, send } = openDirectly(late, (opened) => opened.on('*', held.handle));
  const delivered = send(event);
  const call = await held.calls.nth(1);
  const fetched = receiver.accept(event, SOURCE);
  writing.shut();
  call.fail(new Error('no database'));
  expect(await delivered).toHaveProperty('status', 500);
  expect(await fetched).toMatchObject({ outcome: 'failed', code: 'handler_failed' });
  expect(await openDirectly(shared).send(event)).toEqual(accepted('processed', event.id));
  writing.open();
  await written.nth(1);
  await expect.poll(() => shared.deadLetters.get(event.id)).toBeUndefined();
});

describe('if the queue takes the job, but its answer is lost, the dead letter goes', () => {
  const event = createEvent('transfer.succeeded');

  /** Accepts an event whose job is noted by `onJob`, after which the queue gives no answer. */
  async function acceptUnanswered(
    shared: ReturnType<typeof share>,
    onJob: (job: QueuedJob, receiver: Receiver) => Promise<unknown>,
  ): Promise<Receiver> {
    const add = async (job: QueuedJob): Promise<never> => {
      await onJob(job, receiver);
      throw new Error('connection lost');
    };
    const { receiver } = openDirectly({ ...shared, queue: { add, close: async () => {} } }, (opened) =>
      opened.on('*', () => {}, { name: 'book', queue: true }),
    );
    const report = await receiver.accept(event, SOURCE);
    expect(report).toMatchObject({ outcome: 'parked', code: 'queue_unavailable' });
    return receiver;
  }

  test('if a worker had handled the event before the dead letter was stored', async () => {
    const shared = share();
    await acceptUnanswered(shared, async (job, receiver) => {
      expect(await receiver.dispatch(job, { attempt: 1, final: false })).toMatchObject({
        outcome: 'processed',
      });
    });
    await expect.poll(() => shared.deadLetters.get(event.id)).toBeUndefined();
  });

  test('once a worker has handled the event', async () => {
    const shared = share();
    const jobs: QueuedJob[] = [];
    const receiver = await acceptUnanswered(shared, async (job) => jobs.push(job));
    expect(await shared.deadLetters.get(event.id)).toMatchObject({ reason: 'queue_unavailable' });
    await receiver.dispatch(jobs[0], { attempt: 1, final: false });
    expect(await shared.deadLetters.get(event.id)).toBeUndefined();
  });
});
