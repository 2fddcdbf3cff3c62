import type { Webhook } from 'posthorn/client';
import { describe, expect, test } from 'vitest';
import { readAll } from '../../support/read-all.ts';
import { openService } from './service.ts';

const URL = 'https://example.com/hooks';

describe('client.webhooks', () => {
  test('create gives the webhook with its key, which no later answer shows', async () => {
    const { client } = await openService();
    const created = await client.webhooks.create({
      url: URL,
      enabled_events: [{ entity: 'merchant', types: ['verification.failed'] }],
      authentication: { type: 'BASIC', basic: { username: 'ann', password: 'päss:word' } },
    });
    expect(created).toEqual({
      id: expect.stringMatching(/./),
      created_at: '2026-03-01T12:00:00.250Z',
      updated_at: '2026-03-01T12:00:00.250Z',
      url: URL,
      enabled: true,
      authentication: { type: 'BASIC', basic: { username: 'ann', password: 'päss:word' } },
      enabled_events: [{ entity: 'merchant', types: ['verification.failed'] }],
      secret_signing_key: expect.stringMatching(/.{16}/),
      _links: {
        self: { href: expect.stringMatching(new RegExp(`^http.*/payments/na/webhooks/${created.id}$`)) },
      },
    });
    const later = { ...created, secret_signing_key: null };
    expect(await client.webhooks.retrieve(created.id)).toEqual(later);
    expect((await client.webhooks.list()).webhooks).toEqual([later]);
    expect(await client.webhooks.update(created.id, {})).toMatchObject({ secret_signing_key: null });
  });

  test('create with the url alone: every event, no credentials', async () => {
    const { client } = await openService();
    expect(await client.webhooks.create({ url: URL })).toMatchObject({
      enabled: true,
      authentication: { type: 'NONE' },
      enabled_events: [],
    });
  });

  test('update changes what is given and nothing else', async () => {
    const { client, sandbox } = await openService();
    const { id, secret_signing_key, ...created } = await client.webhooks.create({
      url: URL,
      enabled_events: [{ entity: 'transfer', types: ['created', 'failed'] }],
    });
    let expected: Partial<Webhook> = created;
    for (const change of [
      { url: 'https://example.org/other' },
      { enabled_events: [{ entity: 'transfer', types: ['updated'] }] } as const,
      { enabled_events: [] },
      { authentication: { type: 'BEARER', bearer: { token: 'to-ken' } } } as const,
      { authentication: { type: 'NONE' } } as const,
      { enabled: false },
      { enabled: true },
    ]) {
      await sandbox.clock.advance(1_000);
      const updated_at = new Date(sandbox.clock.now()).toISOString();
      expected = { ...expected, ...change, updated_at };
      const updated = await client.webhooks.update(id, change);
      expect(updated).toEqual({ ...expected, id, secret_signing_key: null });
      expect(await client.webhooks.retrieve(id)).toEqual(updated);
    }
  });

  test('what was retrieved can be put back', async () => {
    const { client } = await openService();
    const { id } = await client.webhooks.create({ url: URL });
    const { url, enabled, authentication } = await client.webhooks.retrieve(id);
    expect(await client.webhooks.update(id, { url, enabled, authentication })).toMatchObject({ id, url });
  });

  test('list gives 10 unless told otherwise, and counts them all', async () => {
    const { client } = await openService();
    for (let n = 1; n <= 12; n += 1) await client.webhooks.create({ url: `${URL}/${n}` });
    const first = await client.webhooks.list();
    expect(first.page).toEqual({ limit: 10, offset: 0, count: 12 });
    expect(first.webhooks).toHaveLength(10);
    const rest = await client.webhooks.list({ limit: 100, offset: 10 });
    expect(rest.page).toEqual({ limit: 100, offset: 10, count: 12 });
    expect(rest.webhooks.map(({ url }) => url)).toEqual([`${URL}/11`, `${URL}/12`]);
  });
});

describe('client.webhooks.listAll', () => {
  const lines = [0, 100, 200].map((offset) => `GET /payments/na/webhooks?limit=100&offset=${offset}`);

  test('gives each webhook once, page by page', { timeout: 60_000 }, async () => {
    const { client, gateway } = await openService();
    const created: string[] = [];
    for (const [count, requests] of [
      [0, 1],
      [99, 1],
      [100, 2],
      [101, 2],
      [200, 3],
      [201, 3],
    ] as const) {
      while (created.length < count)
        created.push((await client.webhooks.create({ url: `${URL}/${created.length}` })).id);
      gateway.lines.length = 0;
      expect((await readAll(client.webhooks.listAll())).map(({ id }) => id)).toEqual(created);
      expect(gateway.lines).toEqual(lines.slice(0, requests));
    }
  });
});
