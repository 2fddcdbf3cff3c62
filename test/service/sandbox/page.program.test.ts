import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { listenUntilTheEnd } from '../../support/listen.ts';
import { openPage, receive } from './opened-page.ts';
import { createWebhook, openSandbox } from './opened-sandbox.ts';

const BEARER = ',"authentication":{"type":"BEARER","bearer":{"token":"token-of-the-webhook"}}';
const events = (page: Page) => page.locator('#events > li');

describe('the page of the sandbox', () => {
  test('sends a duplicate, a changed event and two out of order', async () => {
    const opened = await openSandbox();
    await receive(opened);
    const { page } = await openPage(opened.url);
    const send = page.getByRole('button', { name: 'Send', exact: true });
    await page.getByLabel('Data').fill('{"id":"TR1","amount":5}');
    await page.getByLabel('Duplicate').check();
    await send.click();
    await page.getByText('attempt 1: 200 processed', { exact: true }).waitFor();
    await page.getByText('duplicate: 200 duplicate', { exact: true }).waitFor();

    await page.getByLabel('Changed').check();
    await send.click();
    await page.getByText('attempt 1: 403 signature_mismatch', { exact: true }).waitFor();
    await page.getByText('refused, as it should be').waitFor();

    await page.getByLabel('Out of order').check();
    await send.click();
    await expect.poll(() => events(page).count()).toBe(4);
    await expect.poll(() => opened.sandbox.deliveries().length).toBe(5);
    const [newer, older] = opened.sandbox.deliveries().slice(-2);
    const createdAt = (attempt = newer) => JSON.parse(attempt?.request.body ?? '').created_at;
    expect(Date.parse(createdAt(newer)) - Date.parse(createdAt(older))).toBe(1_000);
    expect(JSON.parse(newer?.request.body ?? '').data).toEqual({ id: 'TR1', amount: 5 });
  });

  test('can be used by the keyboard alone', async () => {
    const opened = await openSandbox();
    await receive(opened, 1);
    const { page } = await openPage(opened.url);
    const focused = (): Promise<string> =>
      page.evaluate('document.activeElement.id || document.activeElement.tagName');
    const tabTo = async (id: string): Promise<void> => {
      for (let presses = 0; presses < 30; presses += 1) {
        await page.keyboard.press('Tab');
        if ((await focused()) === id) return;
      }
      throw new Error(`Tab does not lead to ${id}`);
    };
    await tabTo('type');
    await page.keyboard.type('dispute.won');
    await tabTo('data');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('attempt 1: 500 handler_failed', { exact: true }).waitFor();
    await page.locator('h1').click(); // the focus begins anew
    await tabTo('step');
    await page.keyboard.press('Enter');
    await page.getByText('attempt 2: 200 processed', { exact: true }).waitFor();
    expect(await focused(), 'the button keeps the focus when nothing is to come').toBe('step');
    expect(await page.locator('#step').getAttribute('aria-disabled')).toBe('true');
    await tabTo('SUMMARY');
    await page.keyboard.press('Enter');
    await page.getByText('"type": "dispute.won"').first().waitFor();
  });

  test('shows hostile text as text', async () => {
    const opened = await openSandbox();
    const markup = `</pre><img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=1</script>`;
    const url = await listenUntilTheEnd((_request, response) => {
      response.writeHead(500, { 'x-odd': markup, 'content-type': 'text/html' });
      response.end(JSON.stringify({ code: markup }));
    });
    await createWebhook(opened, `{"url":${JSON.stringify(`${url}/?a=${markup}`)}}`);
    const { page, faults } = await openPage(opened.url);
    opened.sandbox.send({ type: `transfer.${markup}`, id: markup, data: { [markup]: markup } });
    await page.locator('summary').click();
    await page.getByText('Request', { exact: true }).waitFor();
    const text = await page.locator('main').innerText();
    // Type, id, data, the address, the body and the header of the answer, and the outcome in the line.
    expect(text.split('<script>globalThis.hacked=1</script>').length - 1).toBeGreaterThanOrEqual(8);
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
    expect(faults).toEqual([]);
  });

  test('has no secret of a webhook, and asks nobody but the sandbox', async () => {
    const opened = await openSandbox();
    const { key } = await receive(opened, 1, BEARER);
    const { page, asked } = await openPage(opened.url);
    const stream = await fetch(`${opened.url}/sandbox/stream`);
    onTestFinished(() => stream.body?.cancel());
    opened.sandbox.send({ type: 'transfer.succeeded' });
    await page.locator('summary').click();
    await page.getByText('authorization: Bearer ********').waitFor();
    await page.getByText('authentication BEARER').waitFor();
    const streamed = await readUntil(stream, /"attempts":\[\{/);
    for (const text of [streamed, await page.content()]) {
      expect(text).not.toContain(key);
      expect(text).not.toContain('token-of-the-webhook');
    }
    const { origin } = new URL(opened.url);
    expect(asked.filter((address) => !address.startsWith(`${origin}/`))).toEqual([]);
  });

  test('shows the signing key of a webhook on a click, until it is hidden again', async () => {
    const opened = await openSandbox();
    const { key } = await receive(opened, 0, BEARER);
    const { page, faults } = await openPage(opened.url);
    const show = page.getByRole('button', { name: /^Show signing key http/ });
    await show.focus();
    await page.keyboard.press('Enter');
    await page.getByText(key, { exact: true }).waitFor();
    // The list is written anew for each change of a webhook, and both the key and the focus stay.
    await createWebhook(opened, '{"url":"https://example.com/second"}');
    await page.getByText('https://example.com/second').waitFor();
    expect(await page.getByText(key, { exact: true }).count()).toBe(1);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Hide signing key');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.content()).not.toContain(key);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Show signing key');
    await page.keyboard.press('Enter');
    await page.getByText(key, { exact: true }).waitFor();
    await page.reload();
    await show.first().waitFor();
    expect(await page.content()).not.toContain(key);
    expect(await page.content()).not.toContain('token-of-the-webhook');
    expect(faults).toEqual([]);
  });

  test('shows a webhook that is given up, and a clock that is ahead', async () => {
    // The real one stands still as well, or the manual one would be less ahead the longer this takes.
    vi.setSystemTime(Date.now());
    onTestFinished(() => void vi.useRealTimers());
    const opened = await openSandbox({ clock: 'manual' });
    await receive(opened, 4);
    const { page } = await openPage(opened.url);
    await page.getByText('enabled', { exact: true }).waitFor();
    opened.sandbox.send({ type: 'dispute.lost' });
    for (const number of [1, 2, 3]) {
      await page.getByText(`attempt ${number}: 500 handler_failed`, { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Step to the next retry' }).click();
    }
    await page.getByText('given up: no retry is to come').waitFor();
    await page.getByText('disabled', { exact: true }).waitFor();
    await page.getByText('This clock is 21 minutes ahead of the real one').waitFor();
  });

  test('enables a webhook again that is given up, by the keyboard alone', async () => {
    const opened = await openSandbox({ clock: 'manual' });
    const { handled } = await receive(opened, 4);
    const { page, faults } = await openPage(opened.url);
    opened.sandbox.send({ type: 'dispute.lost' });
    await opened.sandbox.clock.advance(21 * 60_000);
    await page.getByText('disabled', { exact: true }).waitFor();
    await page.getByRole('button', { name: /^Enable again http/ }).focus();
    // What happens meanwhile takes the focus from nobody.
    opened.sandbox.send({ type: 'transfer.created' });
    await page.getByText('no enabled webhook wants it').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('enabled', { exact: true }).waitFor();
    await page.getByText(/^enabled WH\w+$/).waitFor();
    expect(await page.getByRole('button', { name: /^Enable again/ }).count()).toBe(0);
    expect(await page.evaluate('document.activeElement.id')).toBe('webhooks-title');
    await opened.settle({ type: 'transfer.updated', id: 'evt_after' });
    expect(handled).toEqual(['evt_after']);
    expect(faults).toEqual([]);
  });
});

async function readUntil(response: Response, pattern: RegExp): Promise<string> {
  let text = '';
  if (response.body === null) throw new Error('no body');
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  while (!pattern.test(text)) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the stream ended without ${pattern}`);
    text += decoder.decode(value, { stream: true });
  }
  reader.releaseLock();
  return text;
}
