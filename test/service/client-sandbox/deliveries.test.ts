import type { EventFilter } from 'posthorn/client';
import { describe, expect, test } from 'vitest';
import { receive } from './receiving.ts';
import { openService } from './service.ts';

describe('what the client sets is what the receiver gets', () => {
  test.each([
    { type: 'NONE' },
    { type: 'BASIC', basic: { username: 'ann', password: 'päss:word' } },
    { type: 'BEARER', bearer: { token: 'to-ken' } },
  ] as const)('credentials of $type', async (authentication) => {
    const { client, sandbox } = await openService();
    const receiving = await receive(sandbox, authentication);
    const { secret_signing_key } = await client.webhooks.create({ url: receiving.url, authentication });
    receiving.keys.push(secret_signing_key);
    sandbox.send({ type: 'merchant.created', id: 'evt_1', duplicates: 2 });
    await sandbox.settled();
    expect(sandbox.deliveries().map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(receiving.handled).toEqual(['evt_1']);
    expect(receiving.reports.map(({ outcome }) => outcome).toSorted()).toEqual([
      'duplicate',
      'duplicate',
      'processed',
    ]);
  });

  test('new credentials, at once', async () => {
    const { client, sandbox } = await openService();
    const receiving = await receive(sandbox, { type: 'BEARER', bearer: { token: 'new' } });
    const { id, secret_signing_key } = await client.webhooks.create({
      url: receiving.url,
      authentication: { type: 'BEARER', bearer: { token: 'old' } },
    });
    receiving.keys.push(secret_signing_key);
    sandbox.send({ type: 'merchant.created', id: 'evt_1' });
    await sandbox.settled();
    expect(receiving.handled).toEqual([]);
    await client.webhooks.update(id, { authentication: { type: 'BEARER', bearer: { token: 'new' } } });
    await sandbox.clock.advance(60_000);
    expect(receiving.handled).toEqual(['evt_1']);
  });

  test.each<[string, readonly EventFilter[], readonly string[]]>([
    ['no filter', [], ['transfer.created', 'dispute.won', 'dispute.lost']],
    ['an entity without types', [{ entity: 'dispute', types: [] }], ['dispute.won', 'dispute.lost']],
    ['one type', [{ entity: 'dispute', types: ['lost'] }], ['dispute.lost']],
  ])('events by %s', async (_, enabled_events, expected) => {
    const { client, sandbox } = await openService();
    const receiving = await receive(sandbox);
    const { secret_signing_key } = await client.webhooks.create({ url: receiving.url, enabled_events });
    receiving.keys.push(secret_signing_key);
    for (const type of ['transfer.created', 'dispute.won', 'dispute.lost']) sandbox.send({ type, id: type });
    await sandbox.settled();
    expect(receiving.handled.toSorted()).toEqual([...expected].sort());
  });

  test('nothing while it is disabled, and events again once it is enabled', async () => {
    const { client, sandbox } = await openService();
    const receiving = await receive(sandbox);
    const { id, secret_signing_key } = await client.webhooks.create({ url: receiving.url });
    receiving.keys.push(secret_signing_key);
    await client.webhooks.update(id, { enabled: false });
    sandbox.send({ type: 'transfer.created', id: 'missed' });
    await sandbox.settled();
    await client.webhooks.update(id, { enabled: true });
    sandbox.send({ type: 'transfer.created', id: 'sent' });
    await sandbox.settled();
    expect(receiving.handled).toEqual(['sent']);
  });
});
