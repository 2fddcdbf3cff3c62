import { describe, expect, test } from 'vitest';
import { openPage, receive } from './opened-page.ts';
import { openSandbox } from './opened-sandbox.ts';

describe('the page of the sandbox', () => {
  test('an event fails, the clock is stepped, and its retry succeeds, all without a reload', async () => {
    const opened = await openSandbox();
    const { handled } = await receive(opened, 1);
    const { page, faults } = await openPage(opened.url);
    await page.locator('#webhooks', { hasText: 'http://127.0.0.1:' }).waitFor();
    await page.getByLabel('Type', { exact: true }).selectOption('settlement.approved');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('attempt 1: 500 handler_failed', { exact: true }).waitFor();
    await page.getByText('failed, a retry is to come').waitFor();
    await page.getByText('Next delivery: 2026-03-01T12:01:00Z, in 1 min 0 s').waitFor();
    await page.getByText('attempt 2 at 2026-03-01T12:01:00Z').waitFor();

    await page.getByRole('button', { name: 'Step to the next retry' }).click();
    await page.getByText('attempt 2: 200 processed', { exact: true }).waitFor();
    await page.getByText('delivered', { exact: true }).waitFor();
    await page.getByText('stepped to 2026-03-01T12:01:00.500Z').waitFor();
    expect(await page.locator('#now').textContent()).toBe('2026-03-01T12:01:00Z');
    expect(await page.locator('#events > li').count()).toBe(1);
    expect(handled).toHaveLength(1);

    const attempt = page.locator('details', { hasText: 'attempt 1' });
    await attempt.locator('summary').click();
    await page.getByText('Request', { exact: true }).waitFor();
    const shown = await attempt.textContent();
    expect(shown).toContain('x-service-signature: ');
    expect(shown).toContain('"type": "settlement.approved"');
    expect(shown).toContain('500\n');
    expect(shown).toContain('"code": "handler_failed"');
    expect(faults).toEqual([]);
  });
});
