import { ConfigurationError, catalog, createReceiver, type EventFilter, type Pattern } from 'posthorn';
import { expect, test } from 'vitest';
import { deliveryOf } from '../../../support/delivery-of.ts';
import { envelope } from '../../../support/envelopes.ts';
import { KEY } from '../../../support/served.ts';

const create = () => createReceiver({ signingKey: KEY });

test.each<[patterns: readonly Pattern[], filters: readonly EventFilter[]]>([
  [['transfer.succeeded'], [{ entity: 'transfer', types: ['succeeded'] }]],
  [['dispute.*'], [{ entity: 'dispute', types: catalog.dispute }]],
  [
    ['merchant.verification.*', 'transfer.failed', 'transfer.*', 'merchant.created'],
    [
      { entity: 'transfer', types: catalog.transfer },
      { entity: 'merchant', types: ['created', 'verification.succeeded', 'verification.failed'] },
    ],
  ],
  [['transfer.created', '*'], []],
])('eventFilters() of handlers of %j', (patterns, filters) => {
  const apart = create();
  for (const pattern of patterns) apart.on(pattern, () => {});
  expect(apart.eventFilters()).toEqual(filters);
  expect(
    create()
      .on(patterns, () => {})
      .eventFilters(),
  ).toEqual(filters);
});

test('with onUnhandled it means every event', () => {
  expect(
    create()
      .onUnhandled(() => {})
      .eventFilters(),
  ).toEqual([]);
  expect(
    create()
      .on('transfer.created', () => {})
      .onUnhandled(() => {})
      .eventFilters(),
  ).toEqual([]);
});

test('without a handler it throws: an empty list would mean every event', () => {
  expect(() => create().eventFilters()).toThrow(ConfigurationError);
  expect(() => create().eventFilters()).toThrow(/before any handler was registered/);
});

test('further handlers can be registered after it, until the first delivery; then it can still be called', async () => {
  const receiver = create().on('transfer.created', () => {});
  expect(receiver.eventFilters()).toEqual([{ entity: 'transfer', types: ['created'] }]);
  receiver.on('dispute.won', () => {});
  const expected = [
    { entity: 'transfer', types: ['created'] },
    { entity: 'dispute', types: ['won'] },
  ];
  expect(receiver.eventFilters()).toEqual(expected);
  const now = new Date().toISOString();
  expect(await receiver.receive(deliveryOf(envelope({ created_at: now })))).toMatchObject({ status: 200 });
  expect(receiver.eventFilters()).toEqual(expected);
});
