import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import {
  copyCommand,
  deliver,
  drivingTerminals,
  expectRepeated,
  nasty,
  paste,
  pasteOnTerminal,
  READING,
} from './copied-command.ts';
import { openPage } from './opened-page.ts';

describe('the command that repeats a request', () => {
  test('works as copied in sh and in bash, whatever the body', async () => {
    const opened = await deliver(nasty, '', "/it's/[1-3]{a,b}?q=$HOME&r=%20 ü");
    const { page, faults } = await openPage(opened.url, READING);
    const command = await copyCommand(page);
    for (const [index, shell] of ['sh', 'bash'].entries()) {
      expect(await paste(shell, command), shell).toMatch(/^HTTP\/1\.1 204 /);
      await expectRepeated(opened.endpoint, index + 1);
    }
    expect(faults).toEqual([]);
  });

  test.each([
    { shell: 'sh -i', bracketed: false },
    { shell: 'bash --norc -i', bracketed: false },
    { shell: 'bash --norc -i', bracketed: true },
  ])('is safe to paste on a terminal in $shell, bracketed: $bracketed', async ({ shell, bracketed }) => {
    const marker = join(temporaryDirectory(), 'marker');
    // The terminal would take U+007F for backspace: the quote before it would be gone, or would end the text.
    const ends = ["'\u007f", '\u007f', "'"].map((end) => `${end};touch ${marker} #`);
    const opened = await deliver({ ends, ...drivingTerminals, ...nasty, long: "é'".repeat(1_000) });
    const { page } = await openPage(opened.url, READING);
    const command = await copyCommand(page);
    expect(command).toMatch(/^[ -~\n]+$/);
    expect(await pasteOnTerminal(shell, command, bracketed)).toContain('HTTP/1.1 204 ');
    await expectRepeated(opened.endpoint);
    expect(existsSync(marker)).toBe(false);
  });

  test.each([
    {
      name: 'a bearer token',
      authentication: '{"type":"BEARER","bearer":{"token":"to-k\'en$1"}}',
      secret: "to-k'en$1",
      env: { BEARER_TOKEN: "to-k'en$1" },
    },
    {
      name: 'a user and a password',
      authentication: '{"type":"BASIC","basic":{"username":"user","password":"pa:ss wörd"}}',
      secret: 'pa:ss wörd',
      env: { BASIC_USERNAME: 'user', BASIC_PASSWORD: 'pa:ss wörd' },
    },
  ])('takes $name out of the environment, and says so', async ({ authentication, secret, env }) => {
    const opened = await deliver({ id: 'TR1' }, `,"authentication":${authentication}`);
    const { page } = await openPage(opened.url, READING);
    const command = await copyCommand(page);
    for (const name of Object.keys(env)) await page.locator('.command p', { hasText: name }).waitFor();
    expect(command).not.toContain(secret);
    expect(await page.content()).not.toContain(secret);
    await expect(paste('sh', command)).rejects.toThrow(/parameter (null or )?not set/);
    await paste('sh', command, env);
    await expectRepeated(opened.endpoint);
  });
});
