import { createReceiver, type DeadLetter, type EventIdentity } from 'posthorn';
import { type StripeEvent, stripe } from 'posthorn/providers';
import { createEvent, signedHeaders } from 'posthorn/testing';
import Stripe from 'stripe';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';

const { webhooks } = new Stripe('sk_test_none');
const key = 'whsec_of_the_tests';

/** Delivers a body that Stripe's own package has signed. */
async function received(body: string | object, options: Parameters<typeof stripe>[0] = {}) {
  const identities: EventIdentity[] = [];
  const events: object[] = [];
  const letters = new Map<string, DeadLetter>();
  const receiver = createReceiver({
    provider: stripe(options),
    signingKey: key,
    deadLetters: createMapDeadLetters(letters),
  });
  receiver
    .observe(() => {})
    .on('*', (event, context) => {
      events.push(event);
      identities.push(context.event);
    });
  const payload = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await receiver.receive({
    method: 'POST',
    headers: { 'stripe-signature': webhooks.generateTestHeaderString({ payload, secret: key }) },
    readBody: () => payload,
  });
  return {
    answer: JSON.parse(String(answer.body)),
    events,
    identity: identities[0],
    letters: [...letters.values()],
  };
}

describe('stripe()', () => {
  const snapshot = {
    id: 'evt_1',
    object: 'event',
    type: 'invoice.paid',
    created: Math.floor(Date.now() / 1_000) - 3_600,
    livemode: true,
    data: { object: { id: 'in_1', amount_paid: 1250 } },
  };

  test('hands an event over as Stripe sent it, with its time in milliseconds', async () => {
    const { events, identity } = await received(snapshot);
    expect(events).toEqual([snapshot]);
    const { id, type, created } = snapshot;
    expect(identity).toMatchObject({ id, type, createdAtMs: created * 1_000, provider: 'stripe' });
  });

  test('takes a thin event, whose time is a text', async () => {
    const created = new Date().toISOString();
    const thin = {
      id: 'evt_2',
      object: 'v2.core.event',
      type: 'v1.billing.meter.error_report_triggered',
      created,
      livemode: false,
      related_object: { id: 'mtr_1', type: 'billing.meter', url: '/v1/billing/meters/mtr_1' },
    };
    const { events, identity } = await received(thin);
    expect(events).toEqual([thin]);
    expect(identity).toMatchObject({ id: 'evt_2', type: thin.type, createdAtMs: Date.parse(created) });
  });

  test.each([undefined, null, 1e300, 'yesterday', {}])(
    'handles an event with the time %j as undated',
    async (created) => {
      const { answer, identity } = await received({ ...snapshot, created });
      expect(answer.outcome).toBe('processed');
      expect(identity?.createdAtMs).toBeUndefined();
    },
  );

  test('handles an event that Stripe sends again after a month', async () => {
    const { answer } = await received({ ...snapshot, created: snapshot.created - 30 * 86_400 });
    expect(answer.outcome).toBe('processed');
  });

  test('parks an event without a type under its id', async () => {
    const { type: _, ...untyped } = snapshot;
    const { answer, events, letters } = await received(untyped);
    expect(answer).toMatchObject({ outcome: 'parked', id: 'evt_1' });
    expect(events).toEqual([]);
    expect(letters).toMatchObject([{ eventId: 'evt_1', provider: 'stripe' }]);
  });

  test('names each second endpoint, so that both may send the same event', async () => {
    const identities = await Promise.all(
      [{}, { name: 'stripe-connect' }].map((options) => received(snapshot, options)),
    );
    expect(new Set(identities.map(({ identity }) => identity?.key)).size).toBe(2);
  });

  test.each([
    { options: { name: '' }, says: 'name of the provider' },
    { options: { answerWithinMs: 0 }, says: 'answerWithinMs' },
    { options: { retries: [0] }, says: 'retries' },
    { options: { maxBodyBytes: 0.5 }, says: 'maxBodyBytes' },
    { options: { secret: 'whsec_' }, says: '"secret" is not an option of stripe' },
  ])('refuses $options', ({ options, says }) => {
    expect(() => stripe(options)).toThrow(says);
  });
});

test("createEvent and signedHeaders make what Stripe's package accepts", () => {
  const provider = stripe();
  const event = createEvent('invoice.paid', { id: 'in_1' }, { provider });
  expect(event).toMatchObject({ object: 'event', type: 'invoice.paid', data: { object: { id: 'in_1' } } });
  const body = JSON.stringify(event);
  const headers = signedHeaders(body, { provider, key });
  expect(webhooks.constructEvent(body, headers['stripe-signature'] ?? '', key)).toEqual(event);
});

describe('the types of stripe()', () => {
  test("come from Stripe's package, or are the least that every event has", () => {
    const typed = createReceiver({ provider: stripe<Stripe.Event>(), signingKey: key });
    typed.on('invoice.paid', (event) => {
      expectTypeOf(event.data.object).toEqualTypeOf<Stripe.Invoice>();
    });
    // @ts-expect-error No event of Stripe has this type.
    typed.on('invoice.payed', () => {});
    createReceiver({ provider: stripe(), signingKey: key }).on('invoice.paid', (event) => {
      expectTypeOf(event).toExtend<StripeEvent>();
      expectTypeOf(event.data.object.id).toBeUnknown();
    });
    const thin = createReceiver({ provider: stripe<Stripe.V2.Core.EventNotification>(), signingKey: key });
    thin.on('v1.billing.meter.error_report_triggered', (event) => {
      expectTypeOf(event.created).toEqualTypeOf<string>();
    });
  });
});
