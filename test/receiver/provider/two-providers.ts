import {
  createReceiver,
  type DeadLetters,
  type HandlerContext,
  PermanentError,
  type Receiver,
  type Report,
  type Store,
} from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { expect, onTestFinished, test } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { errorOf } from '../../support/error-of.ts';
import { letterOf } from '../../support/letter-of.ts';
import { ampleDeadlines } from '../../support/limits.ts';
import { deliveryOfOther, type OtherEvent, otherSender } from '../../support/other-sender.ts';
import { readAll } from '../../support/read-all.ts';
import { KEY } from '../../support/served.ts';
import { ListQueue } from '../queue/list-queue.ts';

const ID = 'evt_1';
const OTHER_KEY = `handled:from:4:acme:-:${ID}`;
const delivery = deliveryOf({ ...createEvent('transfer.succeeded'), id: ID });
const otherDelivery = deliveryOfOther({ event_id: ID, type: 'transfer.succeeded' });

interface Either extends Pick<Receiver, 'close'> {
  readonly observe: (observer: (report: Report) => unknown) => unknown;
}

/** A store and dead letters that are empty. */
export interface Place {
  readonly store: Store;
  readonly deadLetters: DeadLetters;
}

/** Receivers of two senders that share a store, dead letters and a queue. Both senders give the same ids. */
function openBoth({ deadLetters, store }: Place) {
  const queue = new ListQueue();
  const shared = { signingKey: KEY, store, deadLetters, queue, ...ampleDeadlines };
  const ran: string[] = [];
  const reports: Report[] = [];
  const state = { isRefusing: false };
  const handle = (_: unknown, { event }: HandlerContext): void => {
    if (state.isRefusing) throw new PermanentError('refused for good');
    ran.push(`${event.provider} ${event.key}`);
  };
  const keep = <R extends Either>(receiver: R): R => {
    receiver.observe((report) => reports.push(report));
    onTestFinished(async () => void (await receiver.close({ graceMs: 0 })));
    return receiver;
  };
  const service = createReceiver(shared)
    .on('transfer.succeeded', handle, { name: 'book' })
    .on('transfer.succeeded', handle, { name: 'mail', queue: true });
  const acme = createReceiver({ ...shared, provider: otherSender() })
    .on('transfer.succeeded', handle, { name: 'book', concurrencyKey: (event: OtherEvent) => event.type })
    .on('transfer.succeeded', handle, { name: 'mail', queue: true });
  return { queue, deadLetters, ran, reports, state, service: keep(service), acme: keep(acme) };
}

/** Proves that two providers share a store, dead letters and a queue. */
export function testTwoProviders(openPlace: () => Place | Promise<Place>): void {
  test('two senders with the same ids share a store and a queue, and each event is handled once', async () => {
    const { acme, queue, ran, service } = openBoth(await openPlace());
    for (const _ of [1, 2]) {
      expect(JSON.parse((await service.receive(delivery)).body)).toMatchObject({ id: ID });
      expect(JSON.parse((await acme.receive(otherDelivery)).body)).toMatchObject({ id: ID });
    }
    expect(queue.jobs.map(({ id, eventId, provider }) => [id, eventId, provider])).toEqual([
      [ID, undefined, undefined],
      [OTHER_KEY, ID, 'acme'],
    ]);
    const [job, otherJob] = [queue.take(), queue.take()];
    const options = { attempt: 1, final: false };
    for (const _ of [1, 2]) {
      expect(await service.dispatch(job, options)).toMatchObject({ provider: 'banking-service' });
      expect(await acme.dispatch(otherJob, options)).toMatchObject({ provider: 'acme' });
    }
    const [own, others] = [`banking-service ${ID}`, `acme ${OTHER_KEY}`];
    expect(ran).toEqual([own, others, own, others]);
  });

  test('a dead letter of another provider is neither replayed nor dropped, and stays', async () => {
    const { acme, deadLetters, ran, service, state } = openBoth(await openPlace());
    state.isRefusing = true;
    await service.receive(delivery);
    await acme.receive(otherDelivery);
    state.isRefusing = false;
    const parked = await readAll(deadLetters.list());
    expect(parked.map(({ id }) => id)).toEqual([ID, OTHER_KEY]);
    expect(parked[1]).toMatchObject({ eventId: ID, provider: 'acme' });
    for (const name of ['eventId', 'provider', 'account']) expect(parked[0]).not.toHaveProperty(name);

    const own = await letterOf(deadLetters, ID);
    const others = await letterOf(deadLetters, OTHER_KEY);
    const cases = [
      { receiver: service, letter: others, named: 'is of the provider "acme"' },
      { receiver: acme, letter: own, named: 'is of the default provider' },
    ];
    for (const { receiver, letter, named } of cases) {
      const mismatch = errorOf('provider_mismatch', named);
      const report = await receiver.replay(letter);
      expect(report).toMatchObject({ outcome: 'failed', event: { id: ID }, error: mismatch });
      await expect(receiver.drop(letter)).rejects.toMatchObject(mismatch);
      expect(await deadLetters.get(letter.id)).toEqual(letter);
    }
    expect(ran).toEqual([]);

    expect(await service.replay(own)).toMatchObject({ outcome: 'processed' });
    expect(await acme.drop(others)).toBe(true);
    expect(await readAll(deadLetters.list())).toEqual([]);
    expect(JSON.parse((await acme.receive(otherDelivery)).body)).toEqual({ outcome: 'duplicate', id: ID });
  });

  test('a job of another provider is not run, and its queue is told so', async () => {
    const { acme, queue, ran, service } = openBoth(await openPlace());
    await service.receive(delivery);
    await acme.receive(otherDelivery);
    const [job, otherJob] = [queue.take(), queue.take()];
    ran.length = 0;
    const mismatch = { outcome: 'failed', error: { code: 'provider_mismatch' } };
    for (const final of [false, true]) {
      expect(await service.dispatch(otherJob, { attempt: 1, final })).toMatchObject(mismatch);
      expect(await acme.dispatch(job, { attempt: 1, final })).toMatchObject(mismatch);
    }
    const failure = { code: 'run_abandoned', message: 'stalled' } as const;
    expect(await acme.dispatch(job, { attempt: 1, final: true, failure })).toMatchObject(mismatch);
    expect(ran).toEqual([]);
    expect(await acme.dispatch(otherJob, { attempt: 1, final: true })).toMatchObject({
      outcome: 'processed',
    });
  });

  test('a failed replay stores the dead letter of another sender again under its key', async () => {
    const { acme, deadLetters, state } = openBoth(await openPlace());
    state.isRefusing = true;
    await acme.receive(otherDelivery);
    const first = await letterOf(deadLetters, OTHER_KEY);
    expect(await acme.replay(first)).toMatchObject({ outcome: 'parked', event: { id: ID } });
    const [again, ...others] = await readAll(deadLetters.list());
    expect(others).toEqual([]);
    expect(again).toMatchObject({ id: OTHER_KEY, eventId: ID, provider: 'acme', parkedAt: first.parkedAt });
  });
}
