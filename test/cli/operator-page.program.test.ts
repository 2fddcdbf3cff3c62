import type { BrowserContext } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { sharedBrowser } from '../service/sandbox/browser.ts';
import { WAIT_LIMIT_MS } from '../support/limits.ts';
import { listenUntilTheEnd } from '../support/listen.ts';
import { inOrder } from './letters.ts';
import { startOperator } from './operating.ts';

async function newContext(): Promise<BrowserContext> {
  const context = await (await sharedBrowser()).newContext();
  context.setDefaultTimeout(WAIT_LIMIT_MS);
  onTestFinished(() => context.close());
  return context;
}

/** A page of another site, with a link to an address. */
async function linkTo(address: string): Promise<string> {
  const served = await listenUntilTheEnd((_request, response) => {
    response.setHeader('content-type', 'text/html').end(`<a href="${address}">a link</a>`);
  });
  return served.replace('127.0.0.1', 'localhost');
}

describe('the address of posthorn operator in a browser', () => {
  test('leads to the page, and is nowhere in it', async () => {
    const { address } = await startOperator(inOrder(['evt_1']));
    const page = await (await newContext()).newPage();
    await page.goto('about:blank');
    await page.goto(address);
    await page.getByText('evt_1').waitFor();
    await page.getByText('Dead letters').first().waitFor();
    expect(page.url()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/(#.*)?$/);
    expect(await page.evaluate('document.cookie + document.referrer')).toBe('');
    expect(await page.evaluate('history.length')).toBe(2);
    await page.goBack();
    expect(page.url()).toBe('about:blank');
  });

  test('leads there by a link on another site, and back to it', async () => {
    const { address } = await startOperator(inOrder(['evt_1']));
    const site = await linkTo(address);
    const page = await (await newContext()).newPage();
    await page.goto(site);
    await page.getByText('a link').click();
    await page.getByText('evt_1').waitFor();
    expect(page.url()).not.toContain('token');
    expect(await page.evaluate('document.cookie')).toBe('');
    await page.goBack();
    await page.getByText('a link').waitFor();
    await page.goForward();
    await page.getByText('evt_1').waitFor();
  });

  test('leads there again, by a link on another site in one step more', async () => {
    const { address } = await startOperator(inOrder(['evt_1']));
    const site = await linkTo(address);
    const page = await (await newContext()).newPage();
    await page.goto(address);
    await page.getByText('evt_1').waitFor();
    await page.goto(address);
    await page.getByText('evt_1').waitFor();
    await page.goto(site);
    await page.getByText('a link').click();
    await page.getByText('This address does not work.').waitFor();
    await page.getByText('go on to the page').click();
    await page.getByText('evt_1').waitFor();
  });

  test('tells a second browser what to do', async () => {
    const { address } = await startOperator(inOrder(['evt_1']));
    const first = await (await newContext()).newPage();
    await first.goto(address);
    await first.getByText('evt_1').waitFor();
    const second = await (await newContext()).newPage();
    await second.goto(address);
    await second.getByText('start the command posthorn operator again').waitFor();
    await second.goto(new URL('/', address).href);
    await second.getByText('This browser is not signed in.').waitFor();
  });

  test('lets two commands be used side by side', async () => {
    const [one, other] = await Promise.all([
      startOperator(inOrder(['evt_1'])),
      startOperator(inOrder(['evt_2'])),
    ]);
    const context = await newContext();
    const [left, right] = [await context.newPage(), await context.newPage()];
    await left.goto(one.address);
    await right.goto(other.address);
    await left.getByText('evt_1').waitFor();
    await right.getByText('evt_2').waitFor();
    await left.reload();
    await left.getByText('evt_1').waitFor();
  });
});
