import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { page, webhook } from '../service/client/literal-bodies.ts';
import { inTurn, json, openLiteralService, type Reply } from '../service/client/literal-service.ts';
import { SIGNING_KEY } from '../service/client/secrets.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { jsonLines, posthorn } from './posthorn.ts';
import { environmentOf } from './sandboxed.ts';

const URL = 'https://example.com/hooks';

/** A service that answers with one reply after the other, and `posthorn webhooks …` against it. */
async function open(...replies: readonly Reply[]) {
  const { url, requests } = await openLiteralService(inTurn(...replies));
  const env = environmentOf(url);
  return {
    webhooks: (...args: string[]) => posthorn(['webhooks', ...args], { env }),
    sent: () => requests.map(({ line, body }) => `${line} ${body}`.trim()),
  };
}

test('show reads the list where the service does not fetch one webhook', async () => {
  const { webhooks, sent } = await open({ status: 405 }, json(page([webhook('WH1'), webhook('WH2')])));
  const ended = await webhooks('show', 'WH2', '--json');
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(jsonLines(ended)).toMatchObject([{ id: 'WH2', url: URL }]);
  expect(sent()).toEqual(['GET /payments/na/webhooks/WH2', 'GET /payments/na/webhooks?limit=100&offset=0']);
});

test('show prints a webhook without its times', async () => {
  const { webhooks } = await open(json(webhook('WH1', { created_at: 'null', updated_at: 'null' })));
  const { code, stdout } = await webhooks('show', 'WH1');
  expect(code).toBe(0);
  expect(stdout).toContain('created unknown, updated unknown');
});

test.each([
  { events: ['payout.created'], sent: [{ entity: 'payout', types: ['created'] }] },
  {
    events: ['transfer.reversed.late', 'dispute.won', 'transfer.failed'],
    sent: [
      { entity: 'transfer', types: ['failed', 'reversed.late'] },
      { entity: 'dispute', types: ['won'] },
    ],
  },
  { events: ['payout.created', '*'], sent: [] },
])('--any lets $events name types that the service has added', async ({ events, sent: enabled_events }) => {
  const { webhooks, sent } = await open(json(webhook('WH1')), json(page([])), json(webhook('WH1')));
  const options = events.flatMap((event) => ['--event', event]);
  await webhooks('update', 'WH1', ...options, '--any');
  await webhooks('ensure', URL, '--any', ...options);
  const bodies = sent().flatMap((line) => /\{.*/.exec(line) ?? []);
  expect(bodies.map((body) => JSON.parse(body).enabled_events)).toEqual([enabled_events, enabled_events]);
});

describe('a creation that is answered with a key and no id', () => {
  const unusable = json(`{"secret_signing_key":"${SIGNING_KEY}"}`, 201);
  const failed = { code: 1, stderr: expect.stringMatching(/\(answer_invalid 201\)\n$/) };

  test.each([
    ['create', [unusable]],
    ['ensure', [json(page([])), unusable]],
  ])('%s fails, and prints the key', async (command, replies) => {
    const { webhooks } = await open(...replies);
    const ended = await webhooks(command, URL, '--json');
    expect(ended).toMatchObject(failed);
    expect(jsonLines(ended)).toEqual([{ secret_signing_key: SIGNING_KEY }]);
    expect(ended.stderr).not.toContain(SIGNING_KEY);
  });

  test.each([
    ['create', [unusable]],
    ['ensure', [json(page([])), unusable]],
  ])('%s fails, and keeps the key in the file that was named', async (command, replies) => {
    const { webhooks } = await open(...replies);
    const file = join(temporaryDirectory(), 'key');
    const ended = await webhooks(command, URL, '--key-file', file);
    expect(ended).toMatchObject(failed);
    expect(ended.stdout).toContain(`a webhook was created\n  its signing key is in ${file}`);
    expect(readFileSync(file, 'utf8')).toBe(SIGNING_KEY);
  });
});

describe('a webhook that was given up while it still says enabled', () => {
  const PUT = 'PUT /payments/na/webhooks/WH1 {"enabled":true}';
  const there = json(webhook('WH1'));
  const LIST = 'GET /payments/na/webhooks?limit=100&offset=0';

  test('is woken by ensure --enable --force, not by ensure --enable', async () => {
    const { webhooks, sent } = await open(json(page([webhook('WH1')])), json(page([webhook('WH1')])), there);
    expect((await webhooks('ensure', URL, '--enable')).stdout).toMatch(/^unchanged WH1 enabled /);
    const forced = await webhooks('ensure', URL, '--enable', '--force');
    expect(forced.stdout).toMatch(/^changed \(enabled\) WH1 enabled /);
    expect(sent()).toEqual([LIST, LIST, PUT]);
  });

  test('is woken by enable, which always sends', async () => {
    const { webhooks, sent } = await open(there);
    expect(await webhooks('enable', 'WH1')).toMatchObject({ code: 0, stderr: '' });
    expect(sent()).toEqual([PUT]);
  });

  test('--force alone is exit code 2', async () => {
    const { webhooks, sent } = await open();
    const message = expect.stringContaining('--force needs --enable or --disable');
    expect(await webhooks('ensure', URL, '--force')).toMatchObject({ code: 2, stderr: message });
    expect(sent()).toEqual([]);
  });
});
