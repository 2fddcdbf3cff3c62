import { describe, expect, test } from 'vitest';
import { listenUntilTheEnd } from '../../support/listen.ts';
import { coloursOf, openAnswering, openPage, receive, shownEvents } from './opened-page.ts';
import { createWebhook, openSandbox } from './opened-sandbox.ts';

describe('an outcome', () => {
  test('has a colour of its group, and only the handled ones that of success', async () => {
    const names = ['processed', 'parked', 'ignored', 'queued', 'busy', 'rejected', 'failed'] as const;
    const opened = await openAnswering(...names);
    const { page } = await openPage(opened.url);
    for (const name of names) {
      await opened.settle({ type: 'transfer.succeeded', id: name });
    }
    await expect.poll(() => page.locator('#events ol .badge').count()).toBe(names.length);
    expect(new Set(await coloursOf(page, '#events ol .badge')).size).toBe(names.length);
  });

  test('is busy if the event runs, and if its key is busy', async () => {
    const opened = await openAnswering('busy', 'keyBusy');
    const { page } = await openPage(opened.url);
    opened.sandbox.send({ type: 'transfer.succeeded' });
    await opened.settle({ type: 'transfer.succeeded' });
    await expect.poll(() => page.locator('#events ol .badge').count()).toBe(2);
    expect(new Set(await coloursOf(page, '#events ol .badge')).size).toBe(1);
  });

  test('is not made out of the answer of another server: its status is the badge', async () => {
    const opened = await openSandbox();
    const bodies = ['{"outcome":"fine"}', '{"code":"handler_failed"}', 'parked'];
    let count = 0;
    const url = await listenUntilTheEnd((_request, response) => {
      response.writeHead(count === 1 ? 418 : 200, { 'content-type': 'application/json' });
      response.end(bodies[count]);
      count += 1;
    });
    await createWebhook(opened, `{"url":"${url}"}`);
    const { page } = await openPage(opened.url);
    for (const line of ['attempt 1: 200', 'attempt 1: 418']) {
      opened.sandbox.send({ type: 'transfer.created' });
      await page.getByText(line, { exact: true }).first().waitFor();
    }
    opened.sandbox.send({ type: 'transfer.created' });
    await expect.poll(() => page.getByText('attempt 1: 200', { exact: true }).count()).toBe(2);
  });
});

describe('an event', () => {
  test('that was given up is delivered when a resend succeeds; without a webhook it says why not', async () => {
    const opened = await openSandbox();
    await receive(opened, 4);
    const { page } = await openPage(opened.url);
    await opened.settle({ type: 'dispute.lost' });
    await opened.sandbox.clock.advance(21 * 60_000);
    await page.getByText('given up: no retry is to come').waitFor();
    await page.getByRole('button', { name: /^Resend/ }).click();
    await page.locator('#events').getByText('No enabled webhook wants the event').waitFor();
    await page.getByRole('button', { name: /^Enable again/ }).click();
    await page.getByText('enabled', { exact: true }).waitFor();
    await page.getByRole('button', { name: /^Resend/ }).click();
    await page.getByText('delivered', { exact: true }).waitFor();
  });
});

describe('the list', () => {
  test('keeps the order in which events happened after a reload, however old they are', async () => {
    const opened = await openAnswering('processed');
    const { page } = await openPage(opened.url);
    opened.sandbox.send({ type: 'transfer.succeeded', id: 'evt_new' });
    await opened.settle({ type: 'transfer.succeeded', id: 'evt_old', ageMs: 840_000 });
    const ids = (): Promise<string[]> => page.locator('#events .id').allTextContents();
    await expect.poll(ids).toEqual(['evt_old', 'evt_new']);
    await page.reload();
    await expect.poll(ids).toEqual(['evt_old', 'evt_new']);
  });

  test('of 200 events changes only where something has happened', async () => {
    const opened = await openAnswering('processed');
    for (let count = 0; count < 199; count += 1) opened.sandbox.send({ type: 'transfer.created' });
    await opened.sandbox.settled();
    const { page } = await openPage(opened.url);
    await expect.poll(() => shownEvents(page).count()).toBe(199);
    await page.evaluate(`
      globalThis.changed = new Set();
      new MutationObserver((records) => {
        for (const { target } of records) {
          const parent = target.nodeType === Node.ELEMENT_NODE ? target : target.parentElement;
          globalThis.changed.add(parent?.closest('#events > li'));
        }
      }).observe(document.getElementById('events'), {
        subtree: true, childList: true, characterData: true, attributes: true,
      });
    `);
    const { id } = opened.sandbox.send({ type: 'dispute.won' });
    await page.locator('#events > li').first().getByText('processed', { exact: true }).waitFor();
    expect(await shownEvents(page).count()).toBe(200);
    const changed: string[] = await page.evaluate(
      `[...globalThis.changed].flatMap((item) => item ? [item.querySelector('.id').textContent] : [])`,
    );
    expect(changed).toEqual([id]);
  });
});
