import { ConfigurationError, createReceiver } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { fakeTimers } from '../support/fake-time.ts';
import { post, serve } from '../support/served.ts';
import { schemes } from './schemes.ts';
import { bodyAt, signatureCases } from './signature-cases.ts';

describe.each(schemes)('a delivery of $name', (scheme) => {
  test.each(signatureCases)('$name', async ({ send, answer, differs }) => {
    const now = Math.floor(Date.now() / 1_000);
    fakeTimers({ toFake: ['Date'], now: now * 1_000 });
    const sent = send(scheme, now);
    if (sent === undefined) return;
    const { body, headers, signingKey = [scheme.keys[0]] } = sent;
    const seen: string[] = [];
    const receiver = createReceiver({ provider: scheme.provider, signingKey }).observe(() => {});
    receiver.on('*', ({ type }) => seen.push(type));
    const lines = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
    );
    const { outcome, code } = JSON.parse((await post(await serve(receiver), Buffer.from(body), lines)).body);
    // Where the id is a header, the signature covers it.
    const expected =
      answer !== 'no id' ? answer : headers['webhook-timestamp'] ? 'signature_missing' : 'envelope_invalid';
    expect(outcome ?? code).toBe(expected);
    expect(seen).toEqual(expected === 'processed' ? ['transfer.created'] : []);

    if (scheme.accepts === undefined) return;
    const verdicts = signingKey.map((key) => scheme.accepts?.(Buffer.from(body), headers, key));
    const isSame = (await Promise.all(verdicts)).includes(true) === (expected === 'processed');
    expect(isSame ? undefined : 'another verdict').toBe(differs?.[scheme.name] && 'another verdict');
  });
});

describe.each(schemes)('$name', (scheme) => {
  const now = Math.floor(Date.now() / 1_000);
  const body = Buffer.from(bodyAt(now));
  const [key] = scheme.keys;

  test('each of the 256 bits of a signature counts', async () => {
    const headers = scheme.sign(body, key, now);
    const receiver = createReceiver({ provider: scheme.provider, signingKey: key }).observe(() => {});
    await receiver.verify(body, headers);
    const value = headers[scheme.header] ?? '';
    const text = scheme.encoding === 'hex' ? /[0-9a-f]{64}/ : /[a-z0-9+/]{43}=/i;
    const digest = Buffer.from(text.exec(value)?.[0] ?? '', scheme.encoding);
    expect(digest).toHaveLength(32);
    for (let bit = 0; bit < 256; bit += 1) {
      const flipped = Buffer.from(
        digest.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte)),
      );
      const sent = { ...headers, [scheme.header]: value.replace(text, flipped.toString(scheme.encoding)) };
      await expect(receiver.verify(body, sent), `bit ${bit}`).rejects.toMatchObject({
        code: 'signature_mismatch',
      });
    }
  });

  test.each([undefined, null, '', new Uint8Array(), [], [''], [new Uint8Array()], [key, ''], 5, {}])(
    'without a key, as with %j, there is no receiver',
    (signingKey) => {
      const options = { provider: scheme.provider, signingKey };
      expect(() => Reflect.apply(createReceiver, undefined, [options])).toThrow(ConfigurationError);
    },
  );

  test('a source of keys that gives none, or a wrong one, is answered 503', async () => {
    for (const signingKey of ['', scheme.name === 'Standard Webhooks' ? 'not base64' : '']) {
      const receiver = createReceiver({ provider: scheme.provider, signingKey: () => signingKey }).observe(
        () => {},
      );
      await expect(receiver.verify(body, scheme.sign(body, key, now))).rejects.toMatchObject({
        code: 'keys_unavailable',
        status: 503,
      });
    }
  });
});
