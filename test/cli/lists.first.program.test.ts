import { describe, expect, test } from 'vitest';
import { openLiteralService } from '../service/client/literal-service.ts';
import { refusal } from './ended.ts';
import { jsonLines, posthorn } from './posthorn.ts';
import { startSandbox } from './sandboxed.ts';

describe('posthorn lists', () => {
  test('payment-purposes prints the 17 of the interface', async () => {
    const { env } = await startSandbox();
    const { code, stdout, stderr } = await posthorn(['lists', 'payment-purposes'], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(17);
    expect([lines[0], lines[16]]).toEqual(['3 Purchase of Good(s)', '19 Internal Company Transfer']);
    const entries = jsonLines(await posthorn(['lists', 'payment-purposes', '--json'], { env }));
    expect(entries).toHaveLength(17);
    expect(entries[0]).toMatchObject({ id: 3, category: 'Payment Purpose', title: 'Purchase of Good(s)' });
  });

  test('currencies prints codes and countries', async () => {
    const { env } = await startSandbox();
    const { code, stdout, stderr } = await posthorn(['lists', 'currencies'], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^(?:[A-Z]{3} \S.*\n)+$/);
    const entries = jsonLines(await posthorn(['lists', 'currencies', '--json'], { env }));
    expect(entries.map(({ currencyName, countryName }) => `${currencyName} ${countryName}\n`).join('')).toBe(
      stdout,
    );
  });

  test('a wrong token is exit code 1, a list that cannot be whole too', async () => {
    const { env } = await startSandbox();
    const ended = await posthorn(['lists', 'currencies'], {
      env: { ...env, POSTHORN_ACCESS_TOKEN: 'wrong-secret' },
    });
    expect(ended).toMatchObject(refusal(1, expect.stringMatching(/service_refused 401/)));
    expect(ended.stderr).not.toContain('wrong-secret');
    const metadata = { total: 2, currentPage: 1, pageSize: 1 };
    const body = JSON.stringify({
      success: true,
      data: [{ id: 1, currencyName: 'EUR', countryName: 'Ireland' }],
      metadata,
    });
    const { url } = await openLiteralService(() => ({ body }));
    const cut = await posthorn(['lists', 'currencies'], { env: { ...env, POSTHORN_BASE_URL: url } });
    expect(cut).toMatchObject(refusal(1, expect.stringMatching(/\(list_incomplete 200\)/)));
  });

  test.each(['payment-purposes', 'currencies'])('%s without a token is exit code 2', async (name) => {
    const ended = await posthorn(['lists', name], { env: { POSTHORN_BASE_URL: 'http://h' } });
    expect(ended).toEqual(
      refusal(
        2,
        expect.stringMatching(/the access token is missing: set POSTHORN_ACCESS_TOKEN .*--access-token/),
      ),
    );
  });
});
