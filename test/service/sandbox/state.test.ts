import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigurationError } from 'posthorn';
import { createSandbox } from 'posthorn/sandbox';
import { describe, expect, test } from 'vitest';
import { skipWithoutModes } from '../../support/skip-if.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import {
  ADMINISTRATOR,
  BANKING,
  createWebhook,
  type OpenedSandbox,
  openSandbox,
  retrieveWebhook,
  START_AT,
} from './opened-sandbox.ts';
import { record, statuses } from './recording-endpoint.ts';

/** The same sandbox each time: with its clock standing still, on the same file. */
function open(state: string): Promise<OpenedSandbox> {
  return openSandbox({ clock: 'manual', startAt: START_AT, state });
}

async function failOnce(opened: OpenedSandbox): Promise<{ url: string; id: string; received: () => number }> {
  const endpoint = await record(statuses(500));
  const { id } = await createWebhook(opened, `{"url":"${endpoint.url}"}`);
  await opened.settle({ type: 'transfer.created', id: 'evt_1' });
  return { url: endpoint.url, id, received: () => endpoint.received.all.length };
}

describe('a state file', () => {
  test('keeps webhooks, their keys, quotes, deliveries and the clock over a restart', async () => {
    const path = join(temporaryDirectory(), 'state.json');
    const before = await open(path);
    const endpoint = await record();
    const { id, secret_signing_key } = await createWebhook(
      before,
      `{"url":"${endpoint.url}","enabled_events":[{"entity":"transfer","types":["created"]}],` +
        '"authentication":{"type":"BASIC","basic":{"username":"u","password":"p"}}}',
    );
    const body = '{"destination":{"currency":"EUR","amount":"1.00"}}';
    const quoted = await before.call('POST', '/banking/us2/v1/transaction/fxQuote', BANKING, body);
    const quoteId = (quoted.body as { id: number }).id;
    await before.settle({ type: 'transfer.created', id: 'evt_1', data: { id: 'TR1' } });
    await before.sandbox.clock.advance(29_999);
    const webhook = await retrieveWebhook(before, id);
    await before.sandbox.close();

    const after = await open(path);
    expect(after.sandbox.clock.now()).toBe(START_AT + 29_999);
    expect(await retrieveWebhook(after, id)).toEqual({ ...webhook, _links: expect.anything() });
    expect(after.sandbox.deliveries()).toEqual(before.sandbox.deliveries());
    expect(after.sandbox.acceptQuote(quoteId)).toMatchObject({ status: 'ACCEPTED' });
    const next = await after.call('POST', '/banking/us2/v1/transaction/fxQuote', BANKING, body);
    expect((next.body as { id: number }).id).not.toBe(quoteId);
    await after.settle({ type: 'transfer.created', id: 'evt_2', data: { id: 'TR1' } });
    expect(endpoint.received.all.map((received) => received.body.id)).toEqual(['evt_1', 'evt_2']);
    // The same key and credentials as before.
    expect(readFileSync(path, 'utf8')).toContain(secret_signing_key);
    expect(new Set(endpoint.received.all.map(({ headers }) => headers.authorization))).toEqual(
      new Set(['Basic dTpw']),
    );
  });

  test('keeps pending retries', async () => {
    const path = join(temporaryDirectory(), 'state.json');
    const before = await open(path);
    const { received } = await failOnce(before);
    await before.sandbox.clock.advance(59_999);
    await before.sandbox.close();

    const after = await open(path);
    await after.sandbox.settled();
    expect(received()).toBe(1);
    await after.sandbox.clock.advance(1);
    expect(received()).toBe(2);
    expect(after.sandbox.deliveries({ event: 'evt_1' }).map(({ number, at }) => [number, at])).toEqual([
      [1, '2026-03-01T12:00:00.500Z'],
      [2, '2026-03-01T12:01:00.500Z'],
    ]);
  });

  test('keeps them even where the sandbox was not closed', async () => {
    const path = join(temporaryDirectory(), 'state.json');
    const { received } = await failOnce(await open(path));
    const after = await open(path);
    await after.sandbox.clock.advance(60_000);
    expect(received()).toBe(2);
  });

  test('a delivery that was under way when the sandbox closed is made again', async () => {
    const path = join(temporaryDirectory(), 'state.json');
    const before = await open(path);
    let isFirst = true;
    const endpoint = await record((response) => {
      if (!isFirst) response.writeHead(200).end();
      isFirst = false;
    });
    await createWebhook(before, `{"url":"${endpoint.url}"}`);
    before.sandbox.send({ type: 'transfer.created', id: 'evt_1' });
    await endpoint.received.first(() => true);
    await before.sandbox.close();
    expect(before.sandbox.deliveries()).toEqual([]);

    const after = await open(path);
    await after.sandbox.settled();
    expect(after.sandbox.deliveries()).toMatchObject([{ event: 'evt_1', number: 1, status: 200 }]);
    expect(endpoint.received.all).toHaveLength(2);
  });

  test('keeps that a webhook was given up', async () => {
    const path = join(temporaryDirectory(), 'state.json');
    const before = await open(path);
    const endpoint = await record((response) => void response.writeHead(500).end());
    const { id } = await createWebhook(before, `{"url":"${endpoint.url}"}`);
    before.sandbox.send({ type: 'transfer.created' });
    await before.sandbox.clock.advance(3_600_000);
    await before.sandbox.close();
    expect(await retrieveWebhook(await open(path), id)).toMatchObject({ enabled: false });
  });

  test('the real clock has gone on meanwhile, so that what fell due is delivered at the start', async () => {
    const path = join(temporaryDirectory(), 'state.json');
    const before = await openSandbox({ speed: 600, state: path });
    const { received } = await failOnce(before);
    await before.sandbox.close();
    const closedAt = before.sandbox.clock.now();
    await until('a minute at that speed', () => before.sandbox.clock.now() > closedAt + 60_000);
    const after = await openSandbox({ speed: 600, state: path });
    expect(after.sandbox.clock.now()).toBeGreaterThanOrEqual(closedAt + 60_000);
    await until('the retry', () => received() === 2);
  });

  test('is readable by its owner only, also where it was not before, and nothing is left beside it', async (context) => {
    skipWithoutModes(context);
    const folder = temporaryDirectory();
    const path = join(folder, 'state.json');
    const { sandbox } = await open(path);
    await sandbox.clock.advance(1);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    chmodSync(path, 0o644);
    await sandbox.clock.advance(1);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['state.json']);
  });

  test.each([
    ['no JSON', '{'],
    ['an empty file', ''],
    ['other JSON', '{"some":"thing"}'],
    ['a later version', '{"version":2}'],
    ['a damaged webhook', null],
  ])('%s in its place is refused, named, and left as it is', async (_, text) => {
    const path = join(temporaryDirectory(), 'state.json');
    const { sandbox, ...opened } = await open(path);
    await createWebhook(opened, '{"url":"https://example.com/"}');
    await sandbox.close();
    const damaged = text ?? readFileSync(path, 'utf8').replace('"enabled": true', '"enabled": "perhaps"');
    writeFileSync(path, damaged);
    const opening = () => createSandbox({ state: path });
    expect(opening).toThrow(ConfigurationError);
    expect(opening).toThrow(path);
    expect(opening).toThrow(/move it away/);
    expect(readFileSync(path, 'utf8')).toBe(damaged);
  });

  test('that cannot be read or written is refused at the start', () => {
    const folder = temporaryDirectory();
    mkdirSync(join(folder, 'a-directory'));
    for (const path of [join(folder, 'missing', 'state.json'), join(folder, 'a-directory')]) {
      const opening = () => createSandbox({ state: path });
      expect(opening).toThrow(ConfigurationError);
      expect(opening).toThrow(path);
    }
    expect(() => createSandbox({ state: join(folder, 'a-directory') })).toThrow(/EISDIR/);
    expect(readdirSync(folder)).toEqual(['a-directory']);
  });

  test('that cannot be written any more fails what would have changed it', async () => {
    const folder = temporaryDirectory();
    const path = join(folder, 'state.json');
    const { call, sandbox } = await open(path);
    rmSync(folder, { recursive: true });
    expect(() => sandbox.send({ type: 'transfer.created' })).toThrow(
      /state cannot be written to .*state\.json/,
    );
    await expect(sandbox.clock.advance(1)).rejects.toThrow(ConfigurationError);
    const reply = await call(
      'POST',
      '/payments/na/webhooks',
      ADMINISTRATOR,
      '{"url":"https://example.com/"}',
    );
    expect(reply).toMatchObject({
      status: 500,
      body: { status: 500, message: 'Internal error', details: expect.stringContaining(path) },
    });
  });
});

test('without a file two sandboxes share nothing', async () => {
  const one = await openSandbox();
  await createWebhook(one, '{"url":"https://example.com/"}');
  const other = await openSandbox();
  const { body } = await other.call('GET', '/payments/na/webhooks', ADMINISTRATOR);
  expect(body).toMatchObject({ page: { count: 0 } });
});
