import type { Receiver } from 'posthorn';
import type Stripe from 'stripe';

/** Fetches the events since a time, and accepts them in the order of their creation. */
export async function fetchMissed(
  stripe: Stripe,
  receiver: Pick<Receiver, 'accept'>,
  sinceMs: number,
): Promise<void> {
  const created = { gte: Math.floor(sinceMs / 1_000) };
  const events: Stripe.Event[] = [];
  for await (const event of stripe.events.list({ created, limit: 100 })) events.push(event);
  for (const event of events.reverse()) await receiver.accept(event, { source: 'events.list of Stripe' });
}
