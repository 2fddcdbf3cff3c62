import { describe, expect, test } from 'vitest';
import { openLiteralService } from '../service/client/literal-service.ts';
import { QUOTE } from '../service/shapes/bodies.ts';
import { freePort } from '../support/free-port.ts';
import { refusal } from './ended.ts';
import { jsonLines, posthorn } from './posthorn.ts';
import { curl, startSandbox } from './sandboxed.ts';

const given = { POSTHORN_BASE_URL: 'http://h', POSTHORN_BANKING_TOKEN: 'hidden', POSTHORN_API_KEY: 'hidden' };

describe('posthorn fx-quotes', () => {
  test('create asks for a quote by what must arrive, and retrieve reads it again', async () => {
    // A quote is valid for 30 seconds of the sandbox's clock, from now on by that of the command.
    const { env } = await startSandbox('--clock', 'real');
    const created = await posthorn('fx-quotes create JPY --destination-amount 151237', { env });
    expect(created).toMatchObject({ code: 0, stderr: '' });
    expect(created.stdout).toMatch(
      /^\d+ GENERATED 151237\.00 JPY for 1000\.00 USD\n {2}at 151\.237000, fee 0\.00, until \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n$/,
    );
    const [id = ''] = created.stdout.split(' ');
    expect(await posthorn(['fx-quotes', 'retrieve', id], { env })).toEqual(created);
  });

  test('create asks for a quote by what is debited; --json prints the quote of the service', async () => {
    const { env } = await startSandbox();
    const created = await posthorn('fx-quotes create EUR --source-amount 100.00 --json', { env });
    const [quote] = jsonLines(created);
    expect(quote).toMatchObject({
      resourceName: 'fxQuote',
      id: expect.any(Number),
      destination: { amount: '92.15', currency: 'EUR' },
      source: { amount: '100.00', currency: 'USD' },
      fxRate: '0.921450',
      fee: '0.00',
      status: 'GENERATED',
      expiresAt: expect.stringMatching(/Z$/),
    });
    expect(created.stdout.match(/\n/g)).toHaveLength(1);
  });

  test('retrieve shows that a transaction has used a quote', async () => {
    const { env, url } = await startSandbox();
    const [quote] = jsonLines(await posthorn('fx-quotes create EUR --source-amount 100.00 --json', { env }));
    curl('POST', `${url}/sandbox/fxQuotes/${quote?.id}/accept`, {});
    const retrieved = await posthorn(['fx-quotes', 'retrieve', String(quote?.id), '--json'], { env });
    expect(jsonLines(retrieved)).toMatchObject([{ id: quote?.id, status: 'ACCEPTED' }]);
  });

  test('takes its connection from options, before the environment', async () => {
    const { url } = await startSandbox();
    const connection = ['--base-url', url, '--banking-token', 'sandbox-jwt', '--api-key', 'sandbox-key'];
    const args = ['fx-quotes', 'create', 'EUR', '--source-amount', '1', ...connection];
    expect(await posthorn(args, { env: given })).toMatchObject({ code: 0, stderr: '' });
  });

  test('what the service refuses is exit code 1, on one line without secrets', async () => {
    const { env } = await startSandbox();
    expect(await posthorn(['fx-quotes', 'retrieve', '1'], { env })).toEqual(
      refusal(1, 'posthorn: FX quote not found (service_refused 404)\n'),
    );
    const args = ['fx-quotes', 'create', 'XTS', '--source-amount', '100'];
    expect(await posthorn(args, { env })).toMatchObject(
      refusal(1, expect.stringMatching(/^posthorn: Unsupported currency: XTS .*\(service_refused 400\)\n$/)),
    );
    const ended = await posthorn(args, { env: { ...env, POSTHORN_API_KEY: 'wrong-secret' } });
    expect(ended).toMatchObject(refusal(1, expect.stringMatching(/service_refused 401/)));
    expect(ended.stderr).not.toContain('wrong-secret');
  });

  test('nobody there is exit code 3', async () => {
    const env = { ...given, POSTHORN_BASE_URL: `http://127.0.0.1:${await freePort()}` };
    const ended = await posthorn(['fx-quotes', 'create', 'EUR', '--source-amount', '1'], { env });
    expect(ended).toMatchObject(refusal(3, expect.stringMatching(/\(service_unreachable\)\n$/)));
    expect(ended.stderr).not.toContain('hidden');
  });

  test('retrieve says that a quote has expired, unless a transaction has used it', async () => {
    const retrieve = async (...changes: readonly [string, string][]) => {
      const body = changes.reduce((text, [from, to]) => text.replace(from, to), QUOTE);
      const { url } = await openLiteralService(() => ({ body }));
      const env = { ...given, POSTHORN_BASE_URL: url };
      const { stdout } = await posthorn(['fx-quotes', 'retrieve', '98765'], { env });
      return stdout.split('\n')[1];
    };
    const { fxQuoteExpiry } = JSON.parse(QUOTE);
    const expiry = [fxQuoteExpiry, '11/25/2019 08:09:10'] as const;
    expect(await retrieve([...expiry])).toMatch(/, expired at 2019-11-25T08:09:10Z$/);
    const accepted = ['GENERATED', 'ACCEPTED'] as const;
    expect(await retrieve([...expiry], [...accepted])).toMatch(/, until 2019-11-25T08:09:10Z$/);
    expect(await retrieve([fxQuoteExpiry, '11/25/2199 08:09:10'])).toMatch(/, until 2199-11-25T08:09:10Z$/);
  });

  test('a quote cannot drive the terminal', async () => {
    const { url } = await openLiteralService(() => ({ body: QUOTE.replace('GENERATED', 'a\\u001b[2J') }));
    const env = { ...given, POSTHORN_BASE_URL: url };
    const { stdout } = await posthorn(['fx-quotes', 'retrieve', '98765'], { env });
    expect(stdout).toMatch(/^98765 a\\u\{1b\}\[2J 1000\.00 EUR/);
  });

  test.each([
    { args: ['create', 'EUR'], message: /give one amount/ },
    {
      args: ['create', 'EUR', '--source-amount', '1', '--destination-amount', '1'],
      message: /give one amount/,
    },
    { args: ['create', 'EUR', '--source-amount', '1e3'], message: /source\.amount|decimal number/ },
    { args: ['create', 'eur', '--source-amount', '1'], message: /three-letter ISO currency code/ },
    { args: ['create'], message: /missing required argument 'currency'/ },
    { args: ['retrieve', 'abc'], message: /the id of a quote is a whole number/ },
    { args: ['accept', '5001'], message: /unknown command 'accept'/ },
  ])('$args is exit code 2', async ({ args, message }) => {
    const ended = await posthorn(['fx-quotes', ...args], { env: given });
    expect(ended).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) });
  });

  test.each([
    ['POSTHORN_BASE_URL', /the base address is missing: set POSTHORN_BASE_URL .*--base-url/],
    ['POSTHORN_BANKING_TOKEN', /the banking token is missing: set POSTHORN_BANKING_TOKEN .*--banking-token/],
    ['POSTHORN_API_KEY', /the API key is missing: set POSTHORN_API_KEY .*--api-key/],
  ])('without %s it is exit code 2', async (variable, message) => {
    const ended = await posthorn('fx-quotes retrieve 5001', { env: { ...given, [variable]: '' } });
    expect(ended).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) });
    expect(ended.stderr).not.toContain('hidden');
  });
});
