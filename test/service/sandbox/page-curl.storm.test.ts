import { describe, test } from 'vitest';
import { copyCommand, deliver, expectRepeated, paste, READING } from './copied-command.ts';
import { openPage } from './opened-page.ts';

describe('the command that repeats a request', () => {
  test('has a body whole that is cut on the page, and longer than an argument may be', async () => {
    const opened = await deliver({ long: "'x".repeat(150_000) });
    const { page } = await openPage(opened.url, READING);
    await paste('sh', await copyCommand(page));
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
