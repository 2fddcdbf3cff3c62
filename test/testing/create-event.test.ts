import { ConfigurationError, createReceiver, type EventType } from 'posthorn';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { openSandbox } from '../service/sandbox/opened-sandbox.ts';
import { KEY } from '../support/served.ts';

/** The sample of each type of the catalog: the prefix of its id, and its state. */
const samples: Readonly<Record<EventType, readonly [idPrefix: string, state: string]>> = {
  'transfer.created': ['TR', 'PENDING'],
  'transfer.succeeded': ['TR', 'SUCCEEDED'],
  'transfer.failed': ['TR', 'FAILED'],
  'transfer.updated': ['TR', 'PENDING'],
  'merchant.created': ['MU', 'PENDING'],
  'merchant.updated': ['MU', 'ACTIVE'],
  'merchant.verification.succeeded': ['MU', 'SUCCEEDED'],
  'merchant.verification.failed': ['MU', 'FAILED'],
  'payment_instrument.created': ['PI', 'PENDING'],
  'payment_instrument.updated': ['PI', 'ACTIVE'],
  'payment_instrument.verification.succeeded': ['PI', 'SUCCEEDED'],
  'payment_instrument.verification.failed': ['PI', 'FAILED'],
  'settlement.created': ['ST', 'PENDING'],
  'settlement.approved': ['ST', 'APPROVED'],
  'settlement.funding_transfer.created': ['ST', 'PENDING'],
  'settlement.funding_transfer.succeeded': ['ST', 'SUCCEEDED'],
  'settlement.funding_transfer.failed': ['ST', 'FAILED'],
  'subscription.created': ['SU', 'PENDING'],
  'subscription.updated': ['SU', 'ACTIVE'],
  'subscription.canceled': ['SU', 'CANCELED'],
  'subscription.expired': ['SU', 'EXPIRED'],
  'dispute.created': ['DI', 'PENDING'],
  'dispute.updated': ['DI', 'PENDING'],
  'dispute.won': ['DI', 'WON'],
  'dispute.lost': ['DI', 'LOST'],
};

describe('an event without data gets a sample', () => {
  test.each(Object.entries(samples))(
    '%s, with an id and a state that fit it',
    async (type, [idPrefix, state]) => {
      const data = {
        id: expect.stringMatching(`^${idPrefix}[0-9a-f]{20}$`),
        state,
        amount: 1250,
        tags: {},
      };
      expect(createEvent(type, undefined, { any: true })).toEqual({
        id: expect.stringMatching(/^evt_.+/),
        type,
        created_at: expect.any(String),
        data,
      });
      const { sandbox } = await openSandbox();
      expect(sandbox.send({ type }).data).toEqual(data);
    },
  );

  test.each(['refund.updated', 'constructor.created', 'refund'])('%s, of another entity', (type) => {
    expect(createEvent(type, undefined, { any: true }).data.id).toMatch(/^RS[0-9a-f]{20}$/);
  });

  test('and data that is given replaces all of it', async () => {
    expect(createEvent('transfer.failed', { amount: 12 }).data).toEqual({ amount: 12 });
    expect(createEvent('transfer.failed', {}).data).toEqual({});
    const { sandbox } = await openSandbox();
    expect(sandbox.send({ type: 'transfer.failed', data: { amount: 12 } }).data).toEqual({ amount: 12 });
  });
});

describe('a type that the service does not list', () => {
  test.each([
    ['transfer.suceeded', 'transfer.succeeded'],
    ['DISPUTE.WON', 'dispute.won'],
    ['merchant.verified', 'merchant.created'],
  ])('%s throws, and names %s', (type, nearest) => {
    const create = (): unknown => Reflect.apply(createEvent, undefined, [type]);
    expect(create).toThrow(ConfigurationError);
    expect(create).toThrow(
      `got the type "${type}", which the service does not list. Did you mean "${nearest}"?`,
    );
    expect(create).toThrow('createEvent(type, data, { any: true })');
  });

  test.each([undefined, 5, null, 't'.repeat(1_000_000)])('%s throws', (type) => {
    expect(() => Reflect.apply(createEvent, undefined, [type])).toThrow(ConfigurationError);
    if (typeof type === 'string') return;
    const create = () => Reflect.apply(createEvent, undefined, [type, undefined, { any: true }]);
    expect(create).toThrow(ConfigurationError);
  });

  test('is created with any: true, and reaches a handler of every type', async () => {
    const event = createEvent('transfer.no_such_type', { id: 'TR1' }, { any: true });
    expect(event).toMatchObject({ type: 'transfer.no_such_type', data: { id: 'TR1' } });
    const receiver = createReceiver({ signingKey: KEY })
      .on('*', () => {})
      .observe(() => {});
    const response = await deliver(receiver, event, { key: KEY });
    expect(await response.json()).toEqual({ outcome: 'processed', id: event.id });
  });

  test('stays refused with another option', () => {
    for (const options of [{ any: false }, { all: true }, null, true])
      expect(() => Reflect.apply(createEvent, undefined, ['invented.created', {}, options])).toThrow(
        ConfigurationError,
      );
  });
});
