import { createReceiver, type Queue, type Receiver } from 'posthorn';
import { type BullQueueOptions, createBullQueue } from 'posthorn/bullmq';
import { observeWithPrometheus } from 'posthorn/prometheus';
import { stripe } from 'posthorn/providers';
import type Stripe from 'stripe';
import { queueOf, shared } from './parts.ts';

/** The place of the queue, for the worker as well. */
export const place: BullQueueOptions = queueOf('stripe');

export const queue: Queue = createBullQueue(place);

export const receiver: Receiver<Record<never, never>, Stripe.Event> = createReceiver({
  name: 'stripe',
  provider: stripe<Stripe.Event>(),
  signingKey: process.env.STRIPE_SIGNING_KEY,
  ...shared,
  queue,
}).on('invoice.paid', ({ id, data }) => console.log('invoice.paid', id, data.object.amount_paid), {
  name: 'print',
  queue: true,
});
observeWithPrometheus(receiver);
