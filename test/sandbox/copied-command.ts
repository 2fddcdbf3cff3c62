import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { createWebhook, type OpenedSandbox, openSandbox } from './opened-sandbox.ts';
import { type RecordingEndpoint, record } from './recording-endpoint.ts';

/** For a page that may read the clipboard. */
export const READING = { permissions: ['clipboard-read', 'clipboard-write'] };

/** A sandbox with one delivery to an endpoint. */
export async function deliver(
  data: Readonly<Record<string, unknown>>,
  more = '',
  path = '',
): Promise<OpenedSandbox & { readonly endpoint: RecordingEndpoint }> {
  const opened = await openSandbox();
  const endpoint = await record();
  await createWebhook(opened, `{"url":${JSON.stringify(endpoint.url + path)}${more}}`);
  opened.sandbox.send({ type: 'transfer.succeeded', data });
  await opened.sandbox.settled();
  return { ...opened, endpoint };
}

/** Opens the first attempt, and copies its command. */
export async function copyCommand(page: Page): Promise<string> {
  await page.locator('summary').first().click();
  await page.getByRole('button', { name: 'Copy as curl' }).click();
  await page.locator('.command', { hasText: 'Copied.' }).waitFor();
  return page.evaluate('navigator.clipboard.readText()');
}

/** Runs a command in a shell, which reads it as it would read what is pasted. */
export async function paste(shell: string, command: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const running = promisify(execFile)(shell, ['-s'], { env: { PATH: process.env.PATH, ...env } });
  running.child.stdin?.end(`${command}\n`);
  const { stdout } = await running;
  return stdout;
}

/** Expects that the endpoint got its first request again, now for the given time. */
export async function expectRepeated({ received }: RecordingEndpoint, time = 1): Promise<void> {
  const [delivered, repeated] = await Promise.all([received.nth(1), received.nth(1 + time)]);
  expect(repeated.bytes.equals(delivered.bytes)).toBe(true);
  expect({ method: repeated.method, path: repeated.path }).toEqual({
    method: delivered.method,
    path: delivered.path,
  });
  // Only the sandbox ends each connection.
  const { connection: _, ...headers } = delivered.headers;
  expect(repeated.headers).toEqual(headers);
}

/** Data of which a shell would take much for its own. */
export const nasty = {
  quotes: `it's "quoted" '' \\' \\`,
  shell: '$HOME $(id) `id` $0 $$ %s %d !! * ~ # ; & | < >',
  lines: 'one\ntwo\r\n\tthree\u2028four\u0000',
  unicode: 'Zoë 💶 \u202e \ud800',
};
