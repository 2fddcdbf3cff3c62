import { createReceiver, type Receiver } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { stripe } from 'posthorn/providers';
import type Stripe from 'stripe';

export const receiver: Receiver<Record<never, never>, Stripe.Event> = createReceiver({
  provider: stripe<Stripe.Event>(),
  signingKey: process.env.SIGNING_KEY,
  deadLetters: createFileDeadLetters('dead-letters'),
}).on(
  'invoice.paid',
  ({ id, data: { object: invoice } }) => console.log(id, invoice.id, invoice.amount_paid, invoice.currency),
  { name: 'print' },
);
