import { describe, expect, test } from 'vitest';
import { ADMINISTRATOR, createWebhook, type Played, play } from './play.ts';
import { type RecordingEndpoint, record } from './recording-endpoint.ts';

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
async function arriving({ sandbox }: Played, { received }: RecordingEndpoint): Promise<string[]> {
  const before = received.all.length;
  for (const type of [...TYPES, 'transfer.reversed', 'refund.created']) sandbox.send({ type });
  await sandbox.settled();
  return received.all
    .slice(before)
    .map(({ body }) => body.type)
    .sort();
}

const ALL = [...TYPES, 'transfer.reversed', 'refund.created'].sort();

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
      ['transfer.created', 'transfer.failed', 'transfer.reversed', 'transfer.succeeded', 'transfer.updated'],
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
    const played = await play();
    const endpoint = await record();
    await createWebhook(played, `{"url":"${endpoint.url}"${filter}}`);
    expect(await arriving(played, endpoint)).toEqual(expected);
  });

  test('nothing while it is disabled, and nothing of that time afterwards', async () => {
    const played = await play();
    const endpoint = await record();
    const { id } = await createWebhook(played, `{"url":"${endpoint.url}"}`);
    const path = `/payments/na/webhooks/${id}`;
    await played.call('PUT', path, ADMINISTRATOR, '{"enabled":false}');
    expect(await arriving(played, endpoint)).toEqual([]);
    await played.call('PUT', path, ADMINISTRATOR, '{"enabled":true}');
    await played.sandbox.clock.advance(86_400_000);
    expect(endpoint.received.all).toEqual([]);
    expect(await arriving(played, endpoint)).toEqual(ALL);
  });

  test('what its new filter says, at once', async () => {
    const played = await play();
    const endpoint = await record();
    const { id } = await createWebhook(played, `{"url":"${endpoint.url}"}`);
    await played.call(
      'PUT',
      `/payments/na/webhooks/${id}`,
      ADMINISTRATOR,
      '{"enabled_events":[{"entity":"subscription","types":["expired"]}]}',
    );
    expect(await arriving(played, endpoint)).toEqual(['subscription.expired']);
  });
});
