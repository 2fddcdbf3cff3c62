import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { refusal } from './ended.ts';
import { posthorn, startPosthorn } from './posthorn.ts';
import { curl, startSandbox } from './sandboxed.ts';

describe('posthorn sandbox', () => {
  test('says where it is, and which credentials it takes', async () => {
    const program = startPosthorn(['sandbox', '--port', '0', '--clock', 'manual']);
    await program.line(/^ {2}export /);
    const printed = program.lines.join('\n');
    expect(printed).toMatch(/^sandbox on http:\/\/127\.0\.0\.1:\d+, its clock stands until it is moved/);
    for (const secret of ['sandbox-admin:sandbox-password', 'sandbox-jwt', 'sandbox-key', 'sandbox-access']) {
      expect(printed).toContain(` ${secret}\n`);
    }
  });

  test('prints the same as one line of JSON', async () => {
    const { program, url } = await startSandbox();
    expect(program.lines.map((line) => JSON.parse(line))).toEqual([
      {
        kind: 'listening',
        url,
        clock: 'manual',
        credentials: {
          administrator: { username: 'sandbox-admin', password: 'sandbox-password' },
          user: { username: 'sandbox-user', password: 'sandbox-password' },
          banking: { token: 'sandbox-jwt', apiKey: 'sandbox-key' },
          profile: { accessToken: 'sandbox-access' },
        },
        try: expect.arrayContaining([expect.stringContaining(`${url}/sandbox/events`)]),
      },
    ]);
  });

  test('takes other credentials from options and from the environment', async () => {
    const args = ['sandbox', '--port', '0', '--json', '--administrator', 'a:b:c', '--api-key', 'k'];
    const env = {
      SANDBOX_USER: 'u:v',
      SANDBOX_BANKING_TOKEN: 't',
      SANDBOX_API_KEY: 'not this',
      SANDBOX_ACCESS_TOKEN: 'x',
    };
    const { url, credentials } = JSON.parse(await startPosthorn(args, env).line(/"listening"/));
    expect(credentials).toEqual({
      administrator: { username: 'a', password: 'b:c' },
      user: { username: 'u', password: 'v' },
      banking: { token: 't', apiKey: 'k' },
      profile: { accessToken: 'x' },
    });
    const connection = { POSTHORN_BASE_URL: url, POSTHORN_USERNAME: 'a', POSTHORN_PASSWORD: 'b:c' };
    expect(await posthorn(['webhooks', 'list'], { env: connection })).toEqual(
      refusal(0, 'there are no webhooks\n'),
    );
  });

  test('--speed lets its time run faster', async () => {
    const program = startPosthorn(['sandbox', '--port', '0', '--speed', '1000', '--json']);
    const { url } = JSON.parse(await program.line(/"listening"/));
    const startedAt = performance.now();
    const [first, second] = [curl('GET', `${url}/sandbox/clock`), curl('GET', `${url}/sandbox/clock`)].map(
      (answer) => Date.parse(String(Object(answer).now)),
    );
    const realMs = performance.now() - startedAt;
    expect(Number(second) - Number(first)).toBeGreaterThanOrEqual(1_000);
    expect(Number(second) - Number(first)).toBeLessThanOrEqual(1_000 * realMs);
  });

  test('--state keeps webhooks over a restart, in a file of its owner only', async () => {
    const state = join(temporaryDirectory(), 'sandbox.json');
    const first = await startSandbox('--state', state);
    await first.results('create', 'http://127.0.0.1:3000/webhooks');
    first.program.kill('SIGTERM');
    expect(await first.program.exit).toBe(0);
    expect(statSync(state).mode & 0o777).toBe(0o600);
    const second = await startSandbox('--state', state);
    expect(await second.results('list')).toMatchObject([{ url: 'http://127.0.0.1:3000/webhooks' }]);
  });

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'ends on %s with exit code 0, also with a retry to come',
    async (signal) => {
      const { program, url, results } = await startSandbox();
      await results('create', `http://127.0.0.1:${await freePort()}/webhooks`);
      curl('POST', `${url}/sandbox/events`, { type: 'transfer.created' });
      program.kill(signal);
      expect(await program.exit).toBe(0);
    },
  );

  test('a port that is taken is exit code 2', async () => {
    const { url } = await startSandbox();
    const ended = await posthorn(['sandbox', '--port', new URL(url).port]);
    expect(ended).toEqual(refusal(2, expect.stringMatching(/^posthorn: .*EADDRINUSE.*\n$/)));
  });

  test.each([
    { args: ['--clock', 'sundial'], message: /Allowed choices are real, manual/ },
    { args: ['--speed', '0'], message: /must be a number above 0/ },
    { args: ['--clock', 'manual', '--speed', '2'], message: /speed.*\(configuration_invalid\)\n$/ },
    { args: ['--administrator', 'hidden'], message: /--administrator takes a user and a password/ },
    { args: ['--banking-token', 'hid den'], message: /banking\.token must be/ },
    { args: ['--state', '.'], message: /\(configuration_invalid\)\n$/ },
  ])('$args is exit code 2', async ({ args, message }) => {
    const ended = await posthorn(['sandbox', '--port', '0', ...args]);
    expect(ended).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) });
    expect(ended.stderr).not.toMatch(/hid/);
  });
});
