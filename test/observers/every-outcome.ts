import { createMemoryStore, type DeadLetters, PermanentError } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { ListQueue } from '../receiver/queue/list-queue.ts';
import { handledEntry } from '../support/handled-entry.ts';
import { HeldHandler } from '../support/held-handler.ts';
import { letterOf } from '../support/letter-of.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { type Endpoint, openEndpoint } from '../support/open-endpoint.ts';
import { MINUTE_MS } from '../support/step-clock.ts';
import { throwing } from '../support/throwing.ts';

/**
 * A receiver that has had a delivery of every outcome, a late end, a job, a replay, a fetched event, a rerun,
 * and an endpoint at risk.
 */
export interface Busy {
  readonly endpoint: Endpoint;
  readonly deadLetters: DeadLetters;
}

/** Brings every outcome about. `prepare` gets the receiver before the first delivery. */
export async function bringAboutEveryOutcome(
  prepare: (receiver: Endpoint['receiver']) => void,
): Promise<Busy> {
  const deadLetters = createMapDeadLetters();
  const queue = new ListQueue();
  const held = new HeldHandler();
  const fail = throwing('no booking today');
  const endpoint = await openEndpoint(
    { deadLetters, queue, store: createMemoryStore(), deadlineMs: 500 },
    (receiver) => {
      prepare(receiver);
      receiver
        .on('transfer.*', () => {}, { name: 'book', concurrencyKey: ({ data }) => data.id })
        .on('merchant.*', fail, { name: 'onboard' })
        .on('settlement.*', held.handle, { name: 'settle' })
        .on('subscription.*', () => {}, { name: 'bill', queue: true })
        .on('dispute.*', throwing(new PermanentError('a dispute without an amount')));
    },
  );
  const { receiver, reports, send } = endpoint;

  const booked = createEvent('transfer.succeeded');
  await send(booked);
  await send(booked); // duplicate
  await receiver.accept(booked, { source: 'events.list' }); // duplicate
  await receiver.rerun(handledEntry(booked), { handlers: ['book'], run: 'fix' });
  await send(createEvent('payment_instrument.created')); // ignored
  await send(createEvent('subscription.created')); // queued
  await receiver.dispatch(queue.jobs[0], { attempt: 1, final: false });
  const disputed = createEvent('dispute.created');
  await send(disputed); // parked
  await receiver.replay(await letterOf(deadLetters, disputed.id));
  await send('{}'); // parked, without an entity
  await send(booked, { 'x-service-signature': '0'.repeat(64) }); // rejected
  await send(createEvent('merchant.created')); // failed

  // Two deliveries wait for one handler until their deadlines; it ends after them.
  const settled = createEvent('settlement.created');
  await Promise.all([send(settled), send(settled)]);
  for (const { succeed } of held.calls.all) succeed();
  await reports.first(({ late }) => late);

  // A last attempt that fails while the dead letters are away.
  const { put } = deadLetters;
  deadLetters.put = () => Promise.reject(new Error('no disk'));
  const createdAt = new Date(Date.now() - 20 * MINUTE_MS).toISOString();
  await send({ ...createEvent('merchant.updated'), created_at: createdAt });
  deadLetters.put = put;
  return { endpoint, deadLetters };
}
