import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createSandbox } from 'posthorn/sandbox';
import { describe, expect, onTestFinished, test } from 'vitest';
import { assembleSandbox } from '../../../src/service/sandbox/assemble.ts';
import { freePort } from '../../support/free-port.ts';
import { listenUntilTheEnd } from '../../support/listen.ts';
import { answerInTurn } from './answering-endpoint.ts';
import { openPage, receive } from './opened-page.ts';
import {
  ADMINISTRATOR,
  BANKING,
  createWebhook,
  openSandbox,
  START_AT,
  serveUntilTheEnd,
} from './opened-sandbox.ts';

const BEARER = ',"authentication":{"type":"BEARER","bearer":{"token":"token-of-the-webhook"}}';

describe('the page of the sandbox', () => {
  test('says what is wrong with an event that it does not send', async () => {
    const { page } = await openPage((await openSandbox()).url);
    await page.getByLabel('Data').fill('{');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('The data is not JSON').waitFor();
    expect(await page.getByLabel('Data').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Data').fill('5');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('Invalid event: data must be an object').waitFor();
    await page.getByLabel('Data').fill('');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('no enabled webhook wants it').waitFor();
  });

  test('lets FX quotes count down by the clock of the sandbox', async () => {
    const opened = await openSandbox({ startAt: START_AT, speed: 30 });
    const { page } = await openPage(opened.url);
    const request = '{"destination":{"currency":"EUR","amount":"250.00"}}';
    const { body } = await opened.call('POST', '/banking/us2/v1/transaction/fxQuote', BANKING, request);
    const { source, fxRate, fxQuoteExpiry } = body as {
      source: { amount: string };
      fxRate: string;
      fxQuoteExpiry: string;
    };
    await page.getByText(`${source.amount} USD to 250.00 EUR`).waitFor();
    await page.getByText(`rate ${fxRate}, fee 0.00, expires ${fxQuoteExpiry} UTC`).waitFor();
    await page.getByText(/^GENERATED, (\d+ s left|expired)$/).waitFor();
    await page.getByText('GENERATED, expired').waitFor();
  });

  test('a step ages events, in a sandbox that does so, and the clock stays the real one', async () => {
    const opened = await serveUntilTheEnd(assembleSandbox({}, { agesEvents: true }));
    await receive(opened, 2);
    const { page, faults } = await openPage(opened.url);
    opened.sandbox.send({ type: 'transfer.created', data: { id: 'TR1' } });
    await page.getByText('attempt 1: 500 handler_failed', { exact: true }).waitFor();
    await page.getByText(/^Next delivery: .*, in (1 min 0|\d+) s$/).waitFor();
    await page.getByRole('button', { name: 'Step to the next retry' }).click();
    await page.getByText('attempt 2: 500 handler_failed', { exact: true }).waitFor();
    await page.getByText(/^what has not ended is (\d+ s|1 min) older$/).waitFor();
    await page.getByText(/^aged (\d+ s|1 min), \S+Z, \d+ ms$/).waitFor();
    await page.getByRole('button', { name: 'Step to the next retry' }).click();
    await page.getByText(/^what has not ended is (4 min \d+ s|5 min) older$/).waitFor();
    await page.getByText(/^aged (5 min \d+ s|6 min), \S+Z, \d+ ms$/).waitFor();
    expect(await page.getByText('ahead of the real one').count()).toBe(0);
    const shown = Date.parse((await page.locator('#now').textContent()) ?? '');
    expect(Math.abs(shown - Date.now())).toBeLessThan(60_000);
    expect(faults).toEqual([]);
  });

  test('finds the sandbox again after a restart, and begins anew', async () => {
    const sandbox = createSandbox();
    onTestFinished(() => sandbox.close());
    // Not one that the system gives to others while the sandbox is away.
    const port = await freePort();
    const { url } = await sandbox.listen(port);
    const { page } = await openPage(url);
    sandbox.send({ type: 'dispute.lost' });
    await expect.poll(() => page.locator('#events > li').count()).toBe(1);
    await sandbox.close();
    await page.getByText('the sandbox does not answer').waitFor();
    const next = createSandbox();
    onTestFinished(() => next.close());
    await next.listen(port);
    await page.getByText('live', { exact: true }).waitFor();
    await expect.poll(() => page.locator('#events > li').count()).toBe(0);
  });
});

test('an answer is formatted, unless it is not JSON or is nested very deeply', async () => {
  const opened = await openSandbox();
  const deep = '['.repeat(8_000) + ']'.repeat(8_000);
  const bodies = ['{"rate":1.10,"ids":[1]}', '<b>{"not":"json"}</b>', deep];
  const url = await listenUntilTheEnd((_request, response) => response.end(bodies.shift()));
  await createWebhook(opened, `{"url":"${url}"}`);
  const { page, faults } = await openPage(opened.url);
  for (const expected of ['{\n  "rate": 1.10,\n  "ids": [\n    1\n  ]\n}', '<b>{"not":"json"}</b>', deep]) {
    await opened.settle({ type: 'transfer.created' });
    const item = page.locator('#events > li').first();
    await item.locator('summary').click();
    await item.getByText('Answer', { exact: true }).waitFor();
    expect(await item.locator('pre').last().textContent()).toBe(expected);
    await page.getByRole('button', { name: 'Clear' }).click();
    await expect.poll(() => page.locator('#events > li').count()).toBe(0);
  }
  expect(faults).toEqual([]);
});

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

describe.each(['light', 'dark'] as const)('in the %s scheme', (colorScheme) => {
  test.each([360, 1_600])(
    'axe finds nothing at %i px, and nothing is wider than the window',
    async (width) => {
      const opened = await openSandbox();
      await receive(opened, 2, BEARER);
      await createWebhook(opened, `{"url":"${await listenUntilTheEnd(answerInTurn())}"}`);
      const request = '{"destination":{"currency":"EUR","amount":"250.00"}}';
      await opened.call('POST', '/banking/us2/v1/transaction/fxQuote', BANKING, request);
      await opened.settle({ type: 'payment_instrument.verification.succeeded', duplicates: 1 });
      await opened.sandbox.clock.advance(60_000);
      opened.sandbox.send({ type: 'transfer.failed', changed: true });
      for (let count = 0; count < 7; count += 1) {
        await opened.settle({ type: 'transfer.failed' });
      }
      const givenUp = await createWebhook(opened, '{"url":"https://example.com/given-up"}');
      await opened.call('PUT', `/payments/na/webhooks/${givenUp.id}`, ADMINISTRATOR, '{"enabled":false}');
      const { page } = await openPage(opened.url, {
        colorScheme,
        viewport: { width, height: 900 },
        bypassCSP: true,
      });
      await page.getByText('signature_mismatch').first().waitFor();
      for (const outcome of ['parked', 'ignored', 'queued', 'event_running']) {
        await page.locator('#events ol .badge', { hasText: outcome }).first().waitFor();
      }
      for (const summary of await page.locator('summary').all()) await summary.click();
      await page.getByRole('button', { name: 'Copy as curl' }).first().click();
      await page
        .getByRole('button', { name: /^Show signing key/ })
        .first()
        .click();
      await page.locator('.key').waitFor();
      await page.evaluate(axe);
      const { violations, passes } = await page.evaluate<{
        violations: { id: string; nodes: { html: string }[] }[];
        passes: unknown[];
      }>('axe.run()');
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual(
        [],
      );
      expect(passes.length).toBeGreaterThan(20);
      expect(await page.evaluate('document.scrollingElement.scrollWidth')).toBeLessThanOrEqual(width);
    },
  );
});
