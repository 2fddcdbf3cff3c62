import {
  createMemoryStore,
  createReceiver,
  type EventData,
  type HandlerContext,
  type Receiver,
  type WebhookEvent,
} from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { deliveryOf } from '../../../support/delivery-of.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { letterOf } from '../../../support/letter-of.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import { KEY } from '../../../support/served.ts';
import { ListQueue } from '../../queue/list-queue.ts';

const first = createEvent('transfer.succeeded', { id: 'a' });
const second = createEvent('transfer.succeeded', { id: 'a' });

/** A worker that runs the job of `first`, and so has its key; another worker; and the job of `second`. */
async function openBusy(registerMore: (receiver: Receiver) => unknown = () => {}) {
  const queue = new ListQueue();
  const deadLetters = createMapDeadLetters();
  const shared = { signingKey: KEY, queue, deadLetters, store: createMemoryStore() };
  const held = new HeldHandler();
  const start = (): Receiver => {
    const receiver = createReceiver(shared).observe(() => {});
    receiver.on('transfer.*', held.handle, {
      name: 'book',
      queue: true,
      concurrencyKey: ({ data }) => data.id,
    });
    registerMore(receiver);
    onTestFinished(async () => void (await receiver.close({ graceMs: 0 })));
    return receiver;
  };
  const [worker, other] = [start(), start()];
  const jobOf = async (event: WebhookEvent<'transfer.succeeded', EventData>): Promise<unknown> => {
    expect(await worker.receive(deliveryOf(event))).toMatchObject({ status: 202 });
    return queue.take();
  };
  const running = worker.dispatch(await jobOf(first), { attempt: 1, final: false });
  const { succeed } = await held.calls.nth(1);
  const end = async (): Promise<void> => {
    succeed();
    expect(await running).toMatchObject({ outcome: 'processed' });
  };
  return { deadLetters, end, held, job: await jobOf(second), other, worker };
}

describe('a worker that finds the key of a job busy', () => {
  test.each(['in this process', 'in another process'])('does not wait for it: %s', async (place) => {
    const { end, held, job, other, worker } = await openBusy();
    const runner = place === 'in this process' ? worker : other;
    expect(await runner.dispatch(job, { attempt: 1, final: false })).toMatchObject({
      outcome: 'busy',
      code: 'key_busy',
      handlers: [],
    });
    expect(held.calls.all).toHaveLength(1);
    await end();
    const again = runner.dispatch(job, { attempt: 1, final: false });
    (await held.calls.nth(2)).succeed();
    expect(await again).toMatchObject({ outcome: 'processed' });
  });

  test('leaves it to the queue at its last attempt, beside the dead letter from before the run', async () => {
    const { deadLetters, end, held, job, worker } = await openBusy();
    const options = { attempt: 10, final: true };
    expect(await worker.dispatch(job, options)).toMatchObject({ outcome: 'busy', code: 'key_busy' });
    const letter = await letterOf(deadLetters, second.id);
    expect(letter.runningUntil).toBeGreaterThan(Date.now());
    expect(await worker.replay(letter)).toMatchObject({ outcome: 'busy', code: 'event_running' });
    expect((await worker.health()).deadLetters).toMatchObject({ waiting: 0 });
    await end();
    const again = worker.dispatch(job, options);
    (await held.calls.nth(2)).succeed();
    expect(await again).toMatchObject({ outcome: 'processed' });
    expect(await deadLetters.get(second.id)).toBeUndefined();
  });

  test('parks it at its last attempt if the queue asks for that', async () => {
    const { deadLetters, end, job, worker } = await openBusy();
    const parks = { parksBusyKey: true };
    expect(await worker.dispatch(job, { attempt: 9, final: false, ...parks })).toMatchObject({
      outcome: 'busy',
    });
    expect(await deadLetters.get(second.id)).toBeUndefined();
    expect(await worker.dispatch(job, { attempt: 10, final: true, ...parks })).toMatchObject({
      outcome: 'parked',
      code: 'key_busy',
    });
    const letter = await letterOf(deadLetters, second.id);
    expect(letter).toMatchObject({ reason: 'key_busy', attempts: 10 });
    expect(letter.runningUntil).toBeUndefined();
    await end();
  });

  test('keeps the names of the handlers that have finished', async () => {
    const runs: string[] = [];
    const { end, held, job, other, worker } = await openBusy((receiver) =>
      receiver.on('transfer.*', ({ id }) => runs.push(id), { name: 'log', queue: true }),
    );
    expect(await worker.dispatch(job, { attempt: 1, final: false })).toMatchObject({ code: 'key_busy' });
    await end();
    const again = other.dispatch(job, { attempt: 1, final: false });
    (await held.calls.nth(2)).succeed();
    expect((await again).handlers.map(({ name }) => name)).toEqual(['book']);
    expect(runs).toEqual([first.id, second.id]);
  });

  test('reports the failure of another handler of the event, and parks that at the last attempt', async () => {
    const fail = (_event: unknown, { attempt }: HandlerContext): void => {
      if (attempt > 1) throw new Error('locked');
    };
    const { deadLetters, end, job, worker } = await openBusy((receiver) =>
      receiver.on('transfer.*', fail, { name: 'mail', queue: true }),
    );
    expect(await worker.dispatch(job, { attempt: 2, final: false })).toMatchObject({
      outcome: 'failed',
      code: 'handler_failed',
    });
    expect(await worker.dispatch(job, { attempt: 10, final: true })).toMatchObject({ outcome: 'parked' });
    expect(await letterOf(deadLetters, second.id)).toMatchObject({ reason: 'handler_failed' });
    await end();
  });
});

test.each(['parksMissing', 'parksBusyKey', 'parksAbandoned'])('%s must be true or false', async (name) => {
  const { job, worker } = await openBusy();
  const options = { attempt: 1, final: false, [name]: 'yes' };
  await expect(worker.dispatch(job, options)).rejects.toThrow(
    `${name} of dispatch() must be true or false, got "yes"`,
  );
});
