import { createReceiver, type Report } from 'posthorn';
import { stripe } from 'posthorn/providers';
import { deliver } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { fetchMissed } from '../../examples/stripe/fetch-missed.ts';
import { listenUntilTheEnd } from '../support/listen.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { MINUTE_MS } from '../support/step-clock.ts';
import { stripeEvent } from './stripe-events.ts';
import { createStripeClient, StripeList } from './stripe-list.ts';

const key = 'whsec_of_the_examples';
const SIX_HOURS_MS = 360 * MINUTE_MS;

/** A receiver of Stripe's events, and the list of Stripe, with an event for each of the last 240 minutes. */
async function openStripe() {
  const list = new StripeList();
  const client = createStripeClient(await listenUntilTheEnd(list.listener));
  const handled: string[] = [];
  const reports: Report[] = [];
  const provider = stripe();
  const receiver = createReceiver({ provider, signingKey: key, deadLetters: createMapDeadLetters() })
    .on('invoice.paid', ({ id }) => void handled.push(id), { name: 'print' })
    .observe((report) => reports.push(report));
  const add = (id: string, ageMinutes: number): string => {
    const body = stripeEvent({ id, ageMs: ageMinutes * MINUTE_MS });
    list.events.push(JSON.parse(body));
    return body;
  };
  const send = async (body: string): Promise<number> =>
    (await deliver(receiver, body, { key, provider })).status;
  const pass = (): Promise<void> => fetchMissed(client, receiver, Date.now() - SIX_HOURS_MS);
  const bodies = Array.from({ length: 240 }, (_, index) => add(`evt_${index}`, 240 - index));
  return { add, bodies, handled, list, pass, reports, send };
}

test('the events that were missed are run once, from the oldest to the newest', async () => {
  const { add, bodies, handled, list, pass, reports, send } = await openStripe();
  const ids = list.events.map(({ id }) => id);
  const isDelivered = (_: unknown, index: number): boolean => index % 3 === 0;
  for (const body of bodies.filter(isDelivered)) expect(await send(body)).toBe(200);
  handled.length = 0;
  await pass();
  expect(handled).toEqual(ids.filter((id, index) => !isDelivered(id, index)));
  expect(list.cursors).toEqual([null, 'evt_140', 'evt_40']);
  expect(reports.at(-1)).toMatchObject({ source: 'accept', acceptedFrom: 'events.list of Stripe' });

  handled.length = 0;
  await pass();
  expect(handled).toEqual([]);
  const young = add('evt_young', 0);
  await pass();
  expect(handled).toEqual(['evt_young']);
  expect(await send(young)).toBe(200);
  expect(reports.at(-1)).toMatchObject({ source: 'delivery', outcome: 'duplicate' });
});

test('events from before that time are not fetched', async () => {
  const { handled, list, pass } = await openStripe();
  list.events.unshift(JSON.parse(stripeEvent({ id: 'evt_old', ageMs: SIX_HOURS_MS + MINUTE_MS })));
  await pass();
  expect(handled[0]).toBe('evt_0');
});
