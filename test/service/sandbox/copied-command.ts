import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { until } from '../../support/until.ts';
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
  await opened.settle({ type: 'transfer.succeeded', data });
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

/** Prompts that occur in no text. */
const [READY, MORE] = ['<<ready>>', '<<more>>'];

/**
 * Pastes a text into a shell on a terminal, and leaves the shell. Resolves with what the terminal shows.
 * `bracketed` tells the shell where the paste ends, as newer terminals do.
 */
export async function pasteOnTerminal(shell: string, text: string, bracketed: boolean): Promise<string> {
  const env = { PATH: process.env.PATH, SHELL: '/bin/sh', PS1: READY, PS2: MORE };
  const child = spawn('script', ['-qec', shell, '/dev/null'], {
    env: { ...env, TERM: bracketed ? 'xterm' : 'dumb' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    shown += chunk;
  });
  const prompts = (prompt: string): number => shown.split(prompt).length - 1;
  const closed = once(child, 'close');
  await until('the first prompt', () => prompts(READY) > 0);
  // Line by line: `script` stands still if the terminal is full in both directions.
  const parts = bracketed ? [`\u001b[200~${text}\u001b[201~`] : text.split('\n');
  for (const [index, part] of parts.entries()) {
    await until(`prompt ${index}: ${shown.slice(-200)}`, () => prompts(MORE) === index);
    child.stdin.write(`${part}\n`);
  }
  await until('the prompt after the command', () => prompts(READY) > 1);
  child.stdin.end('exit 0\n');
  await closed;
  return shown;
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

const codes = (first: number, last: number): string =>
  String.fromCodePoint(...Array.from({ length: last - first + 1 }, (_, index) => first + index));

/** Data of which a terminal would take much for keys and commands, or would not show it. */
export const drivingTerminals = {
  controls: codes(0x00, 0x1f) + codes(0x7f, 0x9f),
  bracketedPaste: '\u001b[201~\u009b201~',
  bidi: codes(0x202a, 0x202e) + codes(0x2066, 0x2069),
  invisible: '\u00ad\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u{e0041}\u3164',
  lines: '\u0085\u2028\u2029',
};
