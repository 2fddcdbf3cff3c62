import type { Receiver } from 'posthorn';
import type Stripe from 'stripe';

/**
 * Fetches the events since a time, and accepts them in the order of their creation. The list has the last 30
 * days. With `delivery_success: false` it has only events that at least one of your endpoints has not taken.
 * The `data` of an event has the form of its `api_version`, which may not be that of your endpoint.
 *
 * Passes may overlap, because an event that was handled is a duplicate; so the next pass brings what one
 * could not finish. An event may come by the list before its delivery. If it fails then, it is parked and
 * raises the alert, although Stripe still retries it: its delivery or a replay handles it.
 */
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
