import { describe, expect, test } from 'vitest';
import { ADMINISTRATOR, type OpenedSandbox } from './opened-sandbox.ts';
import { openRecorded, type RecordingEndpoint } from './recording-endpoint.ts';

/** Interface, "Events", typed by hand. */
const TYPES = [
  'transfer.created',
  'transfer.succeeded',
  'transfer.failed',
  'transfer.updated',
  'merchant.created',
  'merchant.updated',
  'merchant.verification.succeeded',
  'merchant.verification.failed',
  'payment_instrument.created',
  'payment_instrument.updated',
  'payment_instrument.verification.succeeded',
  'payment_instrument.verification.failed',
  'settlement.created',
  'settlement.approved',
  'settlement.funding_transfer.created',
  'settlement.funding_transfer.succeeded',
  'settlement.funding_transfer.failed',
  'subscription.created',
  'subscription.updated',
  'subscription.canceled',
  'subscription.expired',
  'dispute.created',
  'dispute.updated',
  'dispute.won',
  'dispute.lost',
];

/** Sends one event of every type, and one of a type that the service added, and says which arrived. */
async function arriving({ sandbox }: OpenedSandbox, { received }: RecordingEndpoint): Promise<string[]> {
  const before = received.all.length;
  for (const type of [...TYPES, 'transfer.no_such_type', 'refund.created']) sandbox.send({ type });
  await sandbox.settled();
  return received.all
    .slice(before)
    .map(({ body }) => body.type)
    .sort();
}

const ALL = [...TYPES, 'transfer.no_such_type', 'refund.created'].sort();

describe('a webhook gets', () => {
  test.each<[string, string, string[]]>([
    ['everything without enabled_events', '', ALL],
    ['everything with an empty array', ',"enabled_events":[]', ALL],
    [
      'the listed pairs only',
      ',"enabled_events":[{"entity":"transfer","types":["created","failed"]},{"entity":"dispute","types":["won"]}]',
      ['dispute.won', 'transfer.created', 'transfer.failed'],
    ],
    [
      'everything of an entity with empty types',
      ',"enabled_events":[{"entity":"transfer","types":[]}]',
      [
        'transfer.created',
        'transfer.failed',
        'transfer.no_such_type',
        'transfer.succeeded',
        'transfer.updated',
      ],
    ],
    [
      'types of several segments',
      ',"enabled_events":[{"entity":"settlement","types":["funding_transfer.failed"]},{"entity":"merchant","types":["verification.succeeded"]}]',
      ['merchant.verification.succeeded', 'settlement.funding_transfer.failed'],
    ],
    [
      'the union of entries of one entity',
      ',"enabled_events":[{"entity":"dispute","types":["won"]},{"entity":"dispute","types":["lost"]}]',
      ['dispute.lost', 'dispute.won'],
    ],
  ])('%s', async (_, filter, expected) => {
    const { opened, endpoint } = await openRecorded(filter);
    expect(await arriving(opened, endpoint)).toEqual(expected);
  });

  test('nothing while it is disabled, and nothing of that time afterwards', async () => {
    const { opened, endpoint, id } = await openRecorded();
    const path = `/payments/na/webhooks/${id}`;
    await opened.call('PUT', path, ADMINISTRATOR, '{"enabled":false}');
    expect(await arriving(opened, endpoint)).toEqual([]);
    await opened.call('PUT', path, ADMINISTRATOR, '{"enabled":true}');
    await opened.sandbox.clock.advance(86_400_000);
    expect(endpoint.received.all).toEqual([]);
    expect(await arriving(opened, endpoint)).toEqual(ALL);
  });

  test('nothing of a time when it was disabled, however late the first delivery is', async () => {
    const { opened, endpoint, id } = await openRecorded();
    const path = `/payments/na/webhooks/${id}`;
    await opened.call('PUT', path, ADMINISTRATOR, '{"enabled":false}');
    opened.sandbox.send({ type: 'transfer.created', delayMs: 1_000 });
    await opened.call('PUT', path, ADMINISTRATOR, '{"enabled":true}');
    await opened.sandbox.clock.advance(2_000);
    expect(endpoint.received.all).toEqual([]);
  });

  test('what its new filter says, at once', async () => {
    const { opened, endpoint, id } = await openRecorded();
    await opened.call(
      'PUT',
      `/payments/na/webhooks/${id}`,
      ADMINISTRATOR,
      '{"enabled_events":[{"entity":"subscription","types":["expired"]}]}',
    );
    expect(await arriving(opened, endpoint)).toEqual(['subscription.expired']);
  });
});
