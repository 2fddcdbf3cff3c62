import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { openPage } from './opened-page.ts';
import { createWebhook, type OpenedSandbox, openSandbox } from './opened-sandbox.ts';
import { type RecordingEndpoint, record } from './recording-endpoint.ts';

const READING = { permissions: ['clipboard-read', 'clipboard-write'] };

/** A sandbox with one delivery to an endpoint. */
async function deliver(
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
async function copyCommand(page: Page): Promise<string> {
  await page.locator('summary').first().click();
  await page.getByRole('button', { name: 'Copy as curl' }).click();
  await page.locator('.command', { hasText: 'Copied.' }).waitFor();
  return page.evaluate('navigator.clipboard.readText()');
}

/** Runs a command in a shell, which reads it as it would read what is pasted. */
async function paste(shell: string, command: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const running = promisify(execFile)(shell, ['-s'], { env: { PATH: process.env.PATH, ...env } });
  running.child.stdin?.end(`${command}\n`);
  const { stdout } = await running;
  return stdout;
}

/** Expects that the endpoint got the same request twice. */
async function expectRepeated({ received }: RecordingEndpoint): Promise<void> {
  const [delivered, repeated] = await Promise.all([received.nth(1), received.nth(2)]);
  expect(repeated.bytes.equals(delivered.bytes)).toBe(true);
  expect({ method: repeated.method, path: repeated.path }).toEqual({
    method: delivered.method,
    path: delivered.path,
  });
  // Only the sandbox ends each connection.
  const { connection: _, ...headers } = delivered.headers;
  expect(repeated.headers).toEqual(headers);
}

const nasty = {
  quotes: `it's "quoted" '' \\' \\`,
  shell: '$HOME $(id) `id` $0 $$ %s %d !! * ~ # ; & | < >',
  lines: 'one\ntwo\r\n\tthree\u2028four\u0000',
  unicode: 'Zoë 💶 \u202e \ud800',
};

describe('the command that repeats a request', () => {
  test.each(['sh', 'bash'])('works as copied in %s, whatever the body', async (shell) => {
    const opened = await deliver(nasty, '', "/it's/[1-3]{a,b}?q=$HOME&r=%20 ü");
    const { page, faults } = await openPage(opened.url, READING);
    const command = await copyCommand(page);
    expect(await paste(shell, command)).toMatch(/^HTTP\/1\.1 204 /);
    await expectRepeated(opened.endpoint);
    expect(faults).toEqual([]);
  });

  test('has a body whole that is cut on the page, and longer than an argument may be', async () => {
    const opened = await deliver({ long: "'x".repeat(150_000) });
    const { page } = await openPage(opened.url, READING);
    await paste('sh', await copyCommand(page));
    await expectRepeated(opened.endpoint);
  });

  test.each([
    {
      name: 'a bearer token',
      authentication: '{"type":"BEARER","bearer":{"token":"to-k\'en$1"}}',
      secret: "to-k'en$1",
      env: { BEARER_TOKEN: "to-k'en$1" },
    },
    {
      name: 'a user and a password',
      authentication: '{"type":"BASIC","basic":{"username":"user","password":"pa:ss wörd"}}',
      secret: 'pa:ss wörd',
      env: { BASIC_USERNAME: 'user', BASIC_PASSWORD: 'pa:ss wörd' },
    },
  ])('takes $name out of the environment, and says so', async ({ authentication, secret, env }) => {
    const opened = await deliver({ id: 'TR1' }, `,"authentication":${authentication}`);
    const { page } = await openPage(opened.url, READING);
    const command = await copyCommand(page);
    for (const name of Object.keys(env)) await page.locator('.command p', { hasText: name }).waitFor();
    expect(command).not.toContain(secret);
    expect(await page.content()).not.toContain(secret);
    await expect(paste('sh', command)).rejects.toThrow(/parameter (null or )?not set/);
    await paste('sh', command, env);
    await expectRepeated(opened.endpoint);
  });

  test('can be copied by hand if the browser does not give the page its clipboard', async () => {
    const opened = await deliver({ id: 'TR1' });
    const { page } = await openPage(opened.url);
    // As over a network, where an address without HTTPS is not a secure context.
    await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`);
    await page.locator('summary').click();
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.locator('.command p', { hasText: 'press Ctrl+C' }).waitFor();
    const selected: string = await page.evaluate(
      'const { value, selectionStart, selectionEnd } = document.activeElement; value.slice(selectionStart, selectionEnd)',
    );
    await paste('sh', selected);
    await expectRepeated(opened.endpoint);
  });
});
