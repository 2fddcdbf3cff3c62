import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createReceiver } from 'posthorn';
import { github, stripe } from 'posthorn/providers';
import { signedHeaders } from 'posthorn/testing';
import Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import { createNamedProvider, providerNames } from '../../src/cli/named-providers.ts';
import { KEY, serve } from '../support/served.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { outcomeOf, startListening } from './listening.ts';
import { jsonLines, posthorn } from './posthorn.ts';
import { writeModule } from './receiver-module.ts';

const env = { SIGNING_KEY: KEY };
const PAID = JSON.stringify({ id: 'evt_1', object: 'event', type: 'invoice.paid', created: 1, data: {} });

/** The header that Stripe's own package signs. */
const stripeHeader = (payload: string, timestamp = Math.floor(Date.now() / 1_000)): string =>
  Stripe.webhooks.generateTestHeaderString({ payload, secret: KEY, timestamp });

function temporaryFile(text: string): string {
  const file = join(temporaryDirectory(), 'headers');
  writeFileSync(file, text);
  return file;
}

/** The code of a module with a provider that cannot be played; `more` are further members. */
const acme = (more = '') => `import { defineProvider, hmacSignature } from 'posthorn';
  export default defineProvider({
    name: 'acme',
    signature: hmacSignature({ encoding: 'hex', read: (h) => ({ signatures: [h.get('acme-mac') ?? ''] }) }),
    readEvent: ({ rawBody }) => ({ id: 'a', type: 'b.c', event: JSON.parse(rawBody) }),
    answerWithinMs: 10_000, retries: 'none', ${more} });`;

describe('--provider of send', () => {
  test('plays Stripe for a receiver of Stripe', async () => {
    const ids: string[] = [];
    const receiver = createReceiver({ provider: stripe(), signingKey: KEY }).observe(() => {});
    receiver.on('invoice.paid', ({ id, data }) => ids.push(`${id} ${JSON.stringify(data.object)}`));
    const command = `send invoice.paid --provider stripe --to ${await serve(receiver)} --id evt_1 --data {"n":1}`;
    expect(await posthorn(`${command} --twice`, { env })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^200 invoice\.paid evt_1 .*\n.*processed.*\n200 .*\n.*duplicate.*\n$/),
    });
    expect(ids).toEqual(['evt_1 {"n":1}']);
  });

  test('plays GitHub, whose events have their types in a header', async () => {
    const payloads: object[] = [];
    const receiver = createReceiver({ provider: github(), signingKey: KEY }).observe(() => {});
    receiver.on('issues.opened', ({ payload }) => payloads.push(payload));
    const command = `send issues.opened --provider github --to ${await serve(receiver)} --data {"n":1}`;
    expect(await posthorn(command, { env })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('processed'),
    });
    expect(payloads).toEqual([{ action: 'opened', n: 1 }]);
  });

  test('says that the receiver is one of another provider', async () => {
    const url = await serve(
      createReceiver({ signingKey: KEY })
        .observe(() => {})
        .on('*', () => {}),
    );
    const ended = await posthorn(`send invoice.paid --provider stripe --to ${url} --json`, { env });
    expect(jsonLines(ended)).toMatchObject([
      { status: 403, advice: 'the receiver does not take events of stripe: give its provider in --provider' },
    ]);
  });

  test('plays a provider of a module, and refuses one that cannot be played', async () => {
    const testing = "testing: { createEvent: () => ({}), sign: () => ({ 'acme-mac': 'a'.repeat(64) }) }";
    const [played, unplayed] = [await writeModule(acme(testing)), await writeModule(acme())];
    const url = await serve(createReceiver({ signingKey: KEY }).observe(() => {}));
    const send = ({ file }: { file: string }) =>
      posthorn(['send', 'b.c', '--to', url, '--provider', file], { env });
    expect(await send(played)).toMatchObject({ code: 1, stdout: expect.stringContaining('403 b.c evt_') });
    expect(await send(unplayed)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the provider "acme" cannot be played: give it the member testing'),
    });
  });

  test.each([
    [
      'stirpe',
      'stirpe is neither a provider nor a file; the nearest is stripe. The providers are banking-service, ',
    ],
    ['./none.js', '--provider must name a file, and "./none.js" is not one'],
    ['package.json', 'cannot be loaded'],
    [
      'stripe --signature-header x-a',
      'stripe names the header of its signature: leave out --signature-header',
    ],
  ])('refuses %s', async (provider, message) => {
    const command = `send a.b --to http://127.0.0.1:9/ --provider ${provider}`;
    expect(await posthorn(command, { env })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(message),
    });
  });
});

describe('--provider of verify', () => {
  const verify = async (headers: readonly string[], body = PAID, provider = 'stripe', key = KEY) => {
    const given = headers.flatMap((header) => ['--header', header]);
    const args = ['verify', '--provider', provider, '--key', key, ...given, '--json'];
    const ended = await posthorn(args, { input: body });
    return { code: ended.code, ...jsonLines(ended)[0], stderr: ended.stderr };
  };

  test('verifies what the package of Stripe signed, now and long ago, in a file of headers, too', async () => {
    const now = `Stripe-Signature: ${stripeHeader(PAID)}`;
    expect(await verify([now])).toMatchObject({ code: 0, verified: true, hints: [] });
    const old = stripeHeader(PAID, 1_700_000_000);
    const lines = temporaryFile(`POST /a HTTP/1.1\r\nHost: h\r\nStripe-Signature: ${old}\r\n\r\n`);
    const json = temporaryFile(JSON.stringify({ 'stripe-signature': old, cookie: ['a', 'b'] }));
    for (const file of [lines, json])
      expect(await verify([`@${file}`])).toMatchObject({
        verified: true,
        hints: ['it was signed at 2023-11-14T22:13:20.000Z: a receiver refuses it now (signature_expired)'],
      });
  });

  test.each([
    ['a changed body', `${PAID}\n`, KEY, [/line end that was not signed/]],
    ['a key in quotes', PAID, `"${KEY}"`, [/key has quotes around it: remove it/]],
    ['another key', PAID, 'other', [/^the signature does not match the signing key/]],
  ])('names %s', async (_, body, key, hints) => {
    const result = await verify([`stripe-signature: ${stripeHeader(PAID)}`], body, 'stripe', key);
    expect(result).toMatchObject({
      code: 1,
      verified: false,
      hints: hints.map((hint) => expect.stringMatching(hint)),
    });
  });

  test.each(providerNames)('verifies what %s signs, and names it if another is given', async (name) => {
    const key = 'c2VjcmV0';
    const provider = await createNamedProvider(name);
    const headers = signedHeaders(PAID, { provider, key, event: { id: 'evt_1', type: 'invoice.paid' } });
    const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}`);
    expect(await verify(lines, PAID, name, key)).toMatchObject({ code: 0, verified: true });
    const other = name === 'svix' ? 'stripe' : 'svix';
    expect(await verify(lines, PAID, other, key)).toMatchObject({
      code: 1,
      hints: [expect.any(String), `the headers have a signature of ${name}: use --provider ${name}`],
    });
  });

  test.each([
    ['a header without a name', () => 'nothing'],
    ['JSON that is broken', () => `@${temporaryFile('{"a"')}`],
  ])('%s is exit code 2', async (_, header) => {
    expect(await verify([header()])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('"name: value"'),
    });
  });
});

test('--provider of listen prints the events of Stripe, and names the provider of others', async () => {
  const { program, url } = await startListening(['--provider', 'stripe']);
  const headers = { 'stripe-signature': stripeHeader(PAID) };
  expect(await outcomeOf(await fetch(url, { method: 'POST', body: PAID, headers }))).toBe('200 processed');
  const ofService = signedHeaders('{}', { key: KEY });
  expect(await outcomeOf(await fetch(url, { method: 'POST', body: '{}', headers: ofService }))).toBe(
    '403 signature_missing',
  );
  await program.line(/use --provider banking-service$/);
  expect(program.lines).toEqual([
    `listening on ${url}`,
    'invoice.paid evt_1 1970-01-01T00:00:01.000Z {}',
    expect.stringMatching(/^ {2}processed 200 invoice\.paid evt_1 attempt 1/),
    expect.stringMatching(
      /^ {2}rejected 403 \d+ ms signature_missing: the header "stripe-signature" is missing/,
    ),
    '  the headers have a signature of banking-service: use --provider banking-service',
  ]);
});
