import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { verifySignature } from 'posthorn';
import { expect, test } from 'vitest';
import { openSandbox } from '../service/sandbox/opened-sandbox.ts';
import { record } from '../service/sandbox/recording-endpoint.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { recorded } from './fixtures.ts';
import { SANDBOX_WEBHOOK } from './record-sandbox.ts';

const RETRY_MS = 60_000;

test.each(recorded)('the sandbox of version $version goes on where it was', async (version) => {
  const endpoint = await record();
  const text = version.sandbox().replaceAll(SANDBOX_WEBHOOK, endpoint.url);
  const state = join(temporaryDirectory(), 'state.json');
  writeFileSync(state, text);
  const { webhooks, quotes, attempts } = JSON.parse(text);
  const { sandbox } = await openSandbox({ clock: 'manual', state });
  expect(sandbox.deliveries()).toEqual(attempts);
  expect(sandbox.acceptQuote(quotes[0].quote.id)).toMatchObject({ status: 'ACCEPTED' });
  await sandbox.clock.advance(RETRY_MS);
  const [received] = endpoint.received.all;
  const { bytes = Buffer.from(''), headers } = received ?? {};
  const signature = String(headers?.['x-service-signature']);
  expect(verifySignature(bytes, signature, webhooks[0].secret_signing_key)).toBe(true);
  expect(sandbox.deliveries().map(({ number, status }) => [number, status])).toEqual([
    [1, 500],
    [2, 204],
  ]);
});
