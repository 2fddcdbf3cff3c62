import { describe, expect, test } from 'vitest';
import { openPage } from '../service/sandbox/opened-page.ts';
import { paste, startPosthorn } from './posthorn.ts';
import { addressOf } from './sandboxed.ts';

const ENDPOINT = 'http://127.0.0.1:1/webhooks';

describe('the commands of the empty lists work as printed', () => {
  test('after a sandbox that npm start has started in a clone', async () => {
    const name = 'node dist/src/cli/bin.js';
    const env = { npm_config_user_agent: 'npm/11.0.0 node/v24.0.0' };
    const program = startPosthorn(['sandbox', '--port', '0', '--json'], env);
    const { page } = await openPage(await addressOf(program));
    const webhook = await page.locator('#no-webhooks pre').innerText();
    expect(webhook).toContain(`\n${name} webhooks create http://127.0.0.1:3000/webhooks`);
    expect(await paste(webhook)).toMatch(/^created WH/);
    await page.locator('#webhooks', { hasText: 'http://127.0.0.1:3000/webhooks' }).waitFor();
    expect(await paste(await page.locator('#no-quotes pre').innerText())).toContain('EUR');
    await page.locator('#quotes', { hasText: 'GENERATED' }).waitFor();
    expect(await page.locator('#no-webhooks, #no-quotes').locator('visible=true').count()).toBe(0);
  });

  test('after posthorn dev', async () => {
    const { page } = await openPage(
      await addressOf(startPosthorn(['dev', '--to', ENDPOINT, '--port', '0', '--json'])),
    );
    expect(await paste(await page.locator('#no-quotes pre').innerText())).toContain('EUR');
    await page.locator('#quotes', { hasText: 'GENERATED' }).waitFor();
  });

  test('and do not show credentials of the sandbox that are not the public ones', async () => {
    const env = {
      SANDBOX_ADMINISTRATOR: 'own-admin:own-password',
      SANDBOX_BANKING_TOKEN: 'own-token',
      SANDBOX_API_KEY: 'own-key',
    };
    const { page } = await openPage(
      await addressOf(startPosthorn(['sandbox', '--port', '0', '--json'], env)),
    );
    expect(await page.content()).not.toMatch(/own-(admin|password|token|key)/);
    await page.getByText('Set POSTHORN_USERNAME and POSTHORN_PASSWORD first').waitFor();
    const variables = { POSTHORN_USERNAME: 'own-admin', POSTHORN_PASSWORD: 'own-password' };
    expect(await paste(await page.locator('#no-webhooks pre').innerText(), variables)).toMatch(/^created WH/);
  });
});
