import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { page, webhook } from '../client/literal-bodies.ts';
import { inTurn, json, openLiteralService, type Reply } from '../client/literal-service.ts';
import { SIGNING_KEY } from '../client/secrets.ts';
import { temporaryDirectory } from './letters.ts';
import { jsonLines, posthorn } from './posthorn.ts';

const URL = 'https://example.com/hooks';

/** A service that answers with one reply after the other, and `posthorn webhooks …` against it. */
async function open(...replies: readonly Reply[]) {
  const { url, requests } = await openLiteralService(inTurn(...replies));
  const env = { POSTHORN_BASE_URL: url, POSTHORN_USERNAME: 'admin', POSTHORN_PASSWORD: 'password' };
  return {
    webhooks: (...args: string[]) => posthorn(['webhooks', ...args], { env }),
    sent: () => requests.map(({ line, body }) => `${line} ${body}`.trim()),
  };
}

test('show prints a webhook without its times', async () => {
  const { webhooks } = await open(json(webhook('WH1', { created_at: 'null', updated_at: 'null' })));
  const { code, stdout } = await webhooks('show', 'WH1');
  expect(code).toBe(0);
  expect(stdout).toContain('created unknown, updated unknown');
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
