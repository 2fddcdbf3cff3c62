import { expect, test } from 'vitest';
import { openPage } from '../service/sandbox/opened-page.ts';
import { paste, startPosthorn } from './posthorn.ts';
import { addressOf } from './sandboxed.ts';

test('the commands of the empty lists of the page work as printed, after posthorn sandbox', async () => {
  const program = startPosthorn(['sandbox', '--port', '0', '--json']);
  const { page } = await openPage(await addressOf(program));
  const webhook = await page.locator('#no-webhooks pre').innerText();
  expect(webhook).toContain('\nposthorn webhooks create http://127.0.0.1:3000/webhooks');
  expect(await paste(webhook)).toMatch(/^created WH/);
  await page.locator('#webhooks', { hasText: 'http://127.0.0.1:3000/webhooks' }).waitFor();
  expect(await paste(await page.locator('#no-quotes pre').innerText())).toContain('EUR');
  await page.locator('#quotes', { hasText: 'GENERATED' }).waitFor();
  expect(await page.locator('#no-webhooks, #no-quotes').locator('visible=true').count()).toBe(0);
});
