import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { ADMINISTRATOR, BANKING, CONTROL, callTo } from '../service/sandbox/opened-sandbox.ts';
import { record, statuses } from '../service/sandbox/recording-endpoint.ts';
import { startProgram } from '../support/child-program.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import type { Version } from './version.ts';

/** The state file of a version's sandbox: a webhook, a quote, a delivery that failed, and its retry. */
export async function recordSandbox(version: Version): Promise<string> {
  const path = join(temporaryDirectory(), 'state.json');
  const args = ['sandbox', '--clock', 'manual', '--state', path, '--port', '0', '--json'];
  const bin = join(version.root, 'dist', 'src', 'cli', 'bin.js');
  const program = startProgram(bin, { PATH: process.env.PATH }, version.root, args);
  onTestFinished(() => program.kill('SIGKILL'));
  const { url } = JSON.parse(await program.line(/"listening"/));
  const call = callTo(url);
  const endpoint = await record(statuses(500));
  const webhook = JSON.stringify({ url: endpoint.url });
  expect((await call('POST', '/payments/na/webhooks', ADMINISTRATOR, webhook)).status).toBe(201);
  const quote = '{"destination":{"currency":"EUR","amount":"1.00"}}';
  await call('POST', '/banking/us2/v1/transaction/fxQuote', BANKING, quote);
  await call('POST', '/sandbox/events', CONTROL, '{"type":"transfer.created","id":"evt_1"}');
  await until('the retry is due', () => JSON.parse(readFileSync(path, 'utf8')).pending[0]?.number === 2);
  program.kill('SIGTERM');
  await program.exit;
  return `${readFileSync(path, 'utf8').replaceAll(endpoint.url, SANDBOX_WEBHOOK)}\n`;
}

/** The address of the webhook in a recorded state. */
export const SANDBOX_WEBHOOK = 'http://127.0.0.1:1/hooks';
