import type { RequestListener } from 'node:http';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { createReceiver } from 'posthorn';
import { toNode } from 'posthorn/node';
import { expect, onTestFinished } from 'vitest';
import { WAIT_LIMIT_MS } from '../../support/limits.ts';
import { listenUntilTheEnd } from '../../support/listen.ts';
import { type AnswerName, answerInTurn } from './answering-endpoint.ts';
import { sharedBrowser } from './browser.ts';
import { createWebhook, type OpenedSandbox, openSandbox } from './opened-sandbox.ts';

/** A page of the sandbox, and everything that went wrong in it. */
export interface Opened {
  readonly page: Page;
  readonly faults: readonly string[];
  /** The addresses that it has asked for. */
  readonly asked: readonly string[];
}

/** Opens the page in a context of its own, as a user who was never here, until the test is over. */
export async function openPage(url: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await (await sharedBrowser()).newContext(options);
  context.setDefaultTimeout(WAIT_LIMIT_MS);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const faults: string[] = [];
  const asked: string[] = [];
  page.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())));
  page.on('pageerror', (error) => void faults.push(error.message));
  page.on('request', (request) => void asked.push(request.url()));
  await page.goto(url);
  await page.getByText('live', { exact: true }).waitFor();
  // A sample that arrived while a test fills the field in would mix with its text.
  await expect.poll(() => page.getByLabel('Data').inputValue()).not.toBe('');
  return { page, faults, asked };
}

/** A receiver behind a webhook of the sandbox; its handler fails as often as it is told to. */
export async function receive(
  opened: OpenedSandbox,
  failures = 0,
  more = '',
): Promise<{ readonly key: string; readonly handled: string[] }> {
  const listeners: RequestListener[] = [];
  const url = await listenUntilTheEnd((request, response) => listeners[0]?.(request, response));
  const webhook = await createWebhook(opened, `{"url":"${url}"${more}}`);
  const handled: string[] = [];
  let left = failures;
  const receiver = createReceiver({
    signingKey: webhook.secret_signing_key,
    authentication:
      more === '' ? { type: 'NONE' } : { type: 'BEARER', bearer: { token: 'token-of-the-webhook' } },
    now: opened.sandbox.clock.now,
  });
  receiver.observe(() => {});
  receiver.on('*', ({ id }) => {
    left -= 1;
    if (left >= 0) throw new Error('the ledger is locked');
    handled.push(id);
  });
  listeners.push(toNode(receiver));
  return { key: webhook.secret_signing_key, handled };
}

/** A sandbox whose only webhook gives these answers. */
export async function openAnswering(...names: readonly AnswerName[]): Promise<OpenedSandbox> {
  const opened = await openSandbox();
  await createWebhook(opened, `{"url":"${await listenUntilTheEnd(answerInTurn(...names))}"}`);
  return opened;
}

/** The items of the list that are not hidden. */
export const shownEvents = (page: Page): Locator => page.locator('#events > li:visible');

/** The backgrounds of the badges that a selector finds. */
export const coloursOf = (page: Page, selector: string): Promise<string[]> =>
  page.evaluate(
    `[...document.querySelectorAll('${selector}')].map((badge) => getComputedStyle(badge).backgroundColor)`,
  );
