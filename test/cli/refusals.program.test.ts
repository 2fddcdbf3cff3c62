import { createReceiver } from 'posthorn';
import { toNode } from 'posthorn/node';
import { describe, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { KEY } from '../support/served.ts';
import { type Ended, jsonLines, posthorn } from './posthorn.ts';
import {
  answerWith,
  listen,
  type Options,
  openSilent,
  openUntrusted,
  serveReceiver,
  servers,
} from './refusing-servers.ts';
import { environmentOf } from './sandboxed.ts';
import { startDev } from './started-dev.ts';

const sendTo = (to: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<Ended> =>
  posthorn(['send', 'transfer.created', '--to', to, ...args], { env: { SIGNING_KEY: KEY, ...env } });

describe('posthorn send says in a second line what a refusal means, and what to do', () => {
  test.each([
    [
      'no mount at the path on Express',
      404,
      /not posthorn's: nothing is mounted at \/hooks\..* mount .*: give the right one in --to$/,
    ],
    [
      'no mount at the path on Node.js',
      404,
      /^the receiver is mounted at another path than \/hooks: give its path in --to$/,
    ],
    [
      'a route for GET alone',
      405,
      /not posthorn's: another route at \/webhooks does not take POST\. The mount .* in --to$/,
    ],
    ['a proxy that compresses', 415, /^the body reached the receiver compressed: look for a proxy/],
    ['a framework without a parser', 415, /not posthorn's: the server refuses application\/json/],
    [
      'a receiver with credentials',
      401,
      /expects credentials .*none were sent: give them in BASIC_USERNAME .*BEARER_TOKEN/,
    ],
    ['a login', 401, /not posthorn's: something before the receiver, such as a login/],
    ['protection against CSRF', 403, /not posthorn's: .*CSRF/],
    [
      'another key',
      403,
      /another signing key than the one of SIGNING_KEY or --key: give the receiver's in SIGNING_KEY or --key$/,
    ],
    [
      'another header',
      403,
      /another header than x-service-signature .*: give its name in --signature-header; or .* in --provider$/,
    ],
    ['a header that holds something else', 403, /another header than x-service-signature/],
    ['a small limit', 413, /raise its option maxBodyBytes$/],
    ['a body parser with a small limit', 413, /not posthorn's: .*raise its limit$/],
    ['a body parser', 500, /^a body parser read the body before .*: mount the receiver before it$/],
    ['no handler', 503, /^the receiver has no handler yet: call receiver\.on/],
    ['a clock that is behind', 400, /^the event is over 5 minutes ahead of the receiver's clock/],
    ['a clock that is ahead', 400, /^the event is older than the receiver accepts: .*maxEventAgeMs$/],
    ['a limit on requests', 429, /not posthorn's: something before the receiver limits requests/],
    ['a proxy alone', 502, /not posthorn's: .*see whether the receiver runs$/],
    ['a redirect', 308, /^a redirect is not followed, .*: give the final address in --to$/],
    [
      'an error of something else',
      500,
      /not posthorn's: the log of the server at http:\/\/127\.0\.0\.1:\d+ may say more$/,
    ],
  ])('%s, %i', async (name, status, advice) => {
    const { code, stdout, stderr } = await sendTo((await servers[name]?.()) ?? '');
    const [first, second = ''] = stdout.split('\n');
    expect({ code, stderr, first }).toEqual({
      code: 1,
      stderr: '',
      first: expect.stringMatching(new RegExp(`^${status} transfer\\.created `)),
    });
    expect(second.trim()).toMatch(advice);
    expect(second).not.toMatch(/hidden|No|example\.com/);
  });

  test('wrong credentials, which are not printed', async () => {
    const to = (await servers['a receiver with credentials']?.()) ?? '';
    const { stdout } = await sendTo(to, [], { BEARER_TOKEN: 'hidden' });
    expect(stdout).toMatch(/\n {2}the receiver expects other credentials .*: give them in BASIC_USERNAME/);
    expect(stdout).not.toContain('hidden');
  });

  test('with --json in a member of the same line; without one after a success, and after a failed handler', async () => {
    const adviceFrom = async (to: string): Promise<unknown[]> =>
      jsonLines(await sendTo(to, ['--json', '--twice'])).map((line) => line.advice);
    expect(await adviceFrom(await serveReceiver())).toEqual([undefined, undefined]);
    const failing = createReceiver({ signingKey: KEY }).on('*', () => Promise.reject(new Error('not yet')));
    failing.observe(() => {});
    expect(await adviceFrom(await listen(toNode(failing)))).toEqual([undefined, undefined]);
    const otherKey = expect.stringMatching(/another signing key/);
    expect(await adviceFrom(await serveReceiver({ signingKey: 'another' }))).toEqual([otherKey, otherKey]);
  });

  test('a refusal that --tamper asks for needs no advice, another one does', async () => {
    const tampered = async (options: Options): Promise<unknown[]> =>
      jsonLines(await sendTo(await serveReceiver(options), ['--json', '--tamper'])).map(
        (line) => line.advice,
      );
    expect(await tampered({})).toEqual([undefined]);
    expect(await tampered({ signatureHeader: 'x-vendor-signature' })).toEqual([
      expect.stringMatching(/another header/),
    ]);
    expect(jsonLines(await sendTo(await answerWith(403), ['--json', '--tamper']))[0]?.advice).toBeUndefined();
  });

  test.each([
    [
      'nothing listens',
      async () => `http://127.0.0.1:${await freePort()}/`,
      /nothing listens at http:\S+: start the receiver, or give its address in --to/,
    ],
    [
      'no TLS',
      async () => (await serveReceiver()).replace('http:', 'https:'),
      /does not speak TLS: give an address with http: in --to/,
    ],
    [
      'a certificate that nobody trusts',
      openUntrusted,
      /does not trust the certificate of 127\.0\.0\.1:\d+: name .*NODE_EXTRA_CA_CERTS/,
    ],
    ['a connection that ends', openSilent, /ended the connection without an answer/],
    [
      'a name of nobody',
      async () => 'http://nobody.invalid/',
      /the name nobody\.invalid does not lead to a machine: give/,
    ],
  ])('no answer: %s', async (_name, open, advice) => {
    const { code, stdout, stderr } = await sendTo(await open());
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(/^posthorn: no answer from http.* \(unreachable\)\n$/);
    expect(stderr).toMatch(advice);
  });
});

/** Starts `posthorn dev`, and triggers an event in it; resolves with the second lines of both. */
async function adviceInDev(
  to: string,
  {
    args = [],
    env = {},
    trigger = [],
  }: { args?: string[]; env?: NodeJS.ProcessEnv; trigger?: string[] } = {},
): Promise<{ readonly dev: string; readonly trigger: string }> {
  const { program, run } = await startDev(to, args, env);
  const { stdout } = await run('trigger', 'transfer.created', ...trigger);
  await program.line(/ attempt 1 /);
  // What follows the line of the attempt was written with it.
  const after = program.lines.slice(program.lines.findIndex((line) => line.includes(' attempt 1 ')) + 1);
  return { dev: after.join('\n').trim(), trigger: stdout.split('\n').slice(2).join('\n').trim() };
}

describe('posthorn dev and posthorn trigger do so as well', () => {
  test('another key than the one that dev made up', async () => {
    const { dev, trigger } = await adviceInDev(await serveReceiver());
    expect(dev).toBe(
      'most likely the receiver has another signing key than the one that was printed at the start: start the ' +
        "receiver with that one, or start posthorn dev again with the receiver's in SIGNING_KEY or --key",
    );
    expect(trigger).toBe(
      'most likely the receiver has another signing key than the webhook: give both the same; posthorn dev takes ' +
        "the receiver's from SIGNING_KEY or --key",
    );
  });

  test('another key than the one that was given, which is not printed', async () => {
    const { dev, trigger } = await adviceInDev(await serveReceiver(), { env: { SIGNING_KEY: 'hidden' } });
    expect(dev).toMatch(
      /another signing key than the one of SIGNING_KEY or --key: start the receiver with that one/,
    );
    expect(`${dev}${trigger}`).not.toContain('hidden');
  });

  test.each([
    ['no mount at the path on Express', /nothing is mounted at \/hooks\./, 'the right one', '--to'],
    ['another header', /another header than x-service-signature/, 'its name', '--signature-header'],
    ['a receiver with credentials', /none were sent/, 'them', 'BASIC_USERNAME'],
  ])('%s: each names its own way out', async (name, meaning, value, option) => {
    const { dev, trigger } = await adviceInDev((await servers[name]?.()) ?? '', {
      env: { SIGNING_KEY: KEY },
    });
    expect(dev).toMatch(meaning);
    expect(dev).toContain(`start posthorn dev again with ${value} in ${option}`);
    expect(trigger).toMatch(meaning);
    expect(trigger).toContain(`posthorn dev takes ${value} from ${option}`);
  });

  test('nothing listens', async () => {
    const { dev, trigger } = await adviceInDev(`http://127.0.0.1:${await freePort()}/`);
    const meaning =
      /nothing listens at http:\/\/127\.0\.0\.1:\d+: start the receiver, or (start )?posthorn dev /;
    expect(dev).toMatch(meaning);
    expect(trigger).toMatch(meaning);
  });

  test('a refusal that --changed asks for needs no advice', async () => {
    const to = await serveReceiver();
    const changed = { env: { SIGNING_KEY: KEY }, trigger: ['--changed'] };
    expect(await adviceInDev(to, changed)).toEqual({ dev: '', trigger: '' });
  });

  test('of a webhook that somebody else has created in it, dev does not know the key', async () => {
    const to = await serveReceiver();
    const { program, url, run } = await startDev(to, ['--event', 'dispute.won', '--json'], {});
    const env = environmentOf(url);
    await posthorn(['webhooks', 'create', to, '--event', 'dispute.lost'], { env });
    for (const [type, than] of [
      ['dispute.won', 'printed at the start'],
      ['dispute.lost', 'than the webhook'],
    ] as const) {
      await run('trigger', type);
      const { advice } = JSON.parse(await program.line(new RegExp(`"type":"${type}".*"advice"`)));
      expect(advice).toContain(than);
    }
  });
});
