import { describe, expect, test } from 'vitest';
import { openLiteralService } from '../service/client/literal-service.ts';
import { LOOKUP } from '../service/shapes/bodies.ts';
import { refusal } from './ended.ts';
import { jsonLines, posthorn } from './posthorn.ts';
import { startSandbox } from './sandboxed.ts';

const given = { POSTHORN_BASE_URL: 'http://h', POSTHORN_BANKING_TOKEN: 'hidden', POSTHORN_API_KEY: 'hidden' };

describe('posthorn e-checks', () => {
  test('find prints the account, and the checks of all ids on a line each', async () => {
    const { env } = await startSandbox();
    const ended = await posthorn(['e-checks', 'find', 'MTX-1001', 'MTX-1003'], { env });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toMatch(
      /^First Sandbox Bank, Operating account, account …6789\n {2}MTX-1001 check 1001 125\.00 SENT PROCESSED TRK0000001 Ada Lovelace\n {2}MTX-1003 check .* RETURNED .*\n$/,
    );
  });

  test('--json prints the answer of the service on one line', async () => {
    const { env } = await startSandbox();
    const ended = await posthorn(['e-checks', 'find', 'MTX-1002', '--json'], { env });
    expect(jsonLines(ended)).toMatchObject([
      {
        errorCode: 0,
        errorMessage: '',
        accountLast4: '6789',
        checkInfo: [{ MerchantTransID: 'MTX-1002' }, { MerchantTransID: 'MTX-1002' }],
      },
    ]);
  });

  test('no check is a result, not an error', async () => {
    const { env } = await startSandbox();
    const ended = await posthorn(['e-checks', 'find', 'MTX-9'], { env });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toMatch(/\n {2}no check has these ids\n$/);
  });

  test('a lookup that fails, and wrong credentials, are exit code 1', async () => {
    const { env } = await startSandbox();
    const { url } = await openLiteralService(() => ({
      body: '{"errorCode":7,"errorMessage":"no such batch"}',
    }));
    const args = ['e-checks', 'find', 'MTX-1001'];
    expect(await posthorn(args, { env: { ...given, POSTHORN_BASE_URL: url } })).toEqual(
      refusal(1, 'posthorn: no such batch (e_check_failed 200)\n'),
    );
    const ended = await posthorn(args, { env: { ...env, POSTHORN_BANKING_TOKEN: 'wrong-secret' } });
    expect(ended).toMatchObject(refusal(1, expect.stringMatching(/service_refused 401/)));
    expect(ended.stderr).not.toContain('wrong-secret');
  });

  test('an answer cannot drive the terminal', async () => {
    const body = LOOKUP.replace(/"FirstName":"[^"]*"/, '"FirstName":"\\u001b[2J"');
    const { url } = await openLiteralService(() => ({ body }));
    const args = ['e-checks', 'find', 'order-17'];
    const { stdout } = await posthorn(args, { env: { ...given, POSTHORN_BASE_URL: url } });
    expect(stdout).toContain('\\u{1b}[2J');
  });

  test.each([
    { args: ['find'], message: /missing required argument 'id'/ },
    { args: ['find', ''], message: /no empty id/ },
    { args: ['find', 'MTX-1001', '--api-key', ''], message: /the API key is missing/ },
  ])('$args is exit code 2', async ({ args, message }) => {
    const ended = await posthorn(['e-checks', ...args], { env: given });
    expect(ended).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) });
  });
});
