import Stripe from 'stripe';

const { webhooks } = new Stripe('sk_test_none');

const INVOICE = { object: { id: 'in_1', amount_paid: 1250, currency: 'eur' } };

/** The body of an event of Stripe, with the members that the handlers of the examples read. */
export function stripeEvent({ id, ageMs = 0, data = INVOICE }: StripeSample): string {
  const created = Math.floor((Date.now() - ageMs) / 1_000);
  return JSON.stringify({ id, object: 'event', type: 'invoice.paid', created, data });
}

interface StripeSample {
  readonly id: string;
  readonly ageMs?: number;
  readonly data?: object;
}

/** Sends a body that Stripe's own package signs. Resolves with the status, and the outcome or the code. */
export async function sendAsStripe(url: string, payload: string, secret: string): Promise<[number, unknown]> {
  const headers = { 'stripe-signature': webhooks.generateTestHeaderString({ payload, secret }) };
  const response = await fetch(url, { method: 'POST', headers, body: payload });
  const { outcome, code } = JSON.parse(await response.text());
  return [response.status, outcome ?? code];
}
