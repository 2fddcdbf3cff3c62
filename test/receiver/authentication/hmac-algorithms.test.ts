import { createHmac, randomBytes } from 'node:crypto';
import { hmacSignature } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { acmeEvent } from '../provider/senders.ts';
import { body, schemes, senderOf } from './hmac-algorithms.ts';

const KEY = 'a key of acme';
const OTHER_KEY = 'another key';

describe.each(schemes)('%s in %s', (algorithm, encoding) => {
  const sign = (text: string, key: string | Uint8Array = KEY): string =>
    createHmac(algorithm, key).update(text).digest(encoding);

  test('accepts the HMAC that Node.js computes, and no other', async () => {
    const send = senderOf(algorithm, encoding, KEY);
    const right = sign(body);
    expect(await send(right)).toBe('200');
    expect(await send(sign(body, OTHER_KEY))).toBe('403 signature_mismatch');
    expect(await send(right, `${body} `)).toBe('403 signature_mismatch');
    const changed = (right.startsWith('a') ? 'b' : 'a') + right.slice(1);
    expect(await send(changed)).toBe('403 signature_mismatch');
  });

  test('refuses another form by name', async () => {
    const send = senderOf(algorithm, encoding, KEY);
    const right = sign(body);
    for (const wrong of [right.slice(1), `${right}0`, ` ${right}`, `${right},`, `${algorithm}=${right}`])
      expect(await send(wrong), wrong).toBe('403 signature_malformed');
    const other = createHmac(algorithm, KEY)
      .update(body)
      .digest(encoding === 'hex' ? 'base64' : 'hex');
    expect(await send(other)).toBe('403 signature_malformed');
  });

  test('takes keys of bytes of any length, and long bodies', async () => {
    for (const length of [1, 63, 64, 65, 127, 128, 129, 200]) {
      const key = randomBytes(length);
      const send = senderOf(algorithm, encoding, key);
      expect(await send(sign(body, key)), `${length}`).toBe('200');
    }
    const send = senderOf(algorithm, encoding, KEY);
    const long = JSON.stringify({ ...acmeEvent(), note: 'é'.repeat(20_000) });
    expect(await send(sign(long), long)).toBe('200');
    expect(await send(sign(body), long)).toBe('403 signature_mismatch');
  });
});

test('hex digits may be in either case, and base64 may not', async () => {
  const hex = createHmac('sha512', KEY).update(body).digest('hex');
  expect(await senderOf('sha512', 'hex', KEY)(hex.toUpperCase())).toBe('200');
  const base64 = createHmac('sha512', KEY).update(body).digest('base64');
  expect(await senderOf('sha512', 'base64', KEY)(base64.toLowerCase())).toBe('403 signature_mismatch');
});

test('base64 has its padding, and the characters of RFC 4648, section 4', async () => {
  const send = senderOf('sha1', 'base64', KEY);
  const right = createHmac('sha1', KEY).update(body).digest('base64');
  expect(right).toMatch(/=$/);
  expect(await send(right.replace(/=+$/, ''))).toBe('403 signature_malformed');
  expect(await send(`-${right.slice(1)}`)).toBe('403 signature_malformed');
});

test('the hash is SHA-256 by default', async () => {
  const right = createHmac('sha256', KEY).update(body).digest('base64');
  expect(await senderOf(undefined, 'base64', KEY)(right)).toBe('200');
});

test('a signature of one hash is none of another', async () => {
  for (const [algorithm, encoding] of schemes) {
    const send = senderOf(algorithm, encoding, KEY);
    for (const [other] of schemes.filter(([each]) => each !== algorithm)) {
      const signature = createHmac(other, KEY).update(body).digest(encoding);
      expect(await send(signature), `${other} as ${algorithm}`).toBe('403 signature_malformed');
    }
  }
});

const read = () => ({ signatures: [] });

test.each<[string, object, RegExp]>([
  [
    'algorithm',
    { read, encoding: 'hex', algorithm: 'md5' },
    /^algorithm must be one of sha1, sha256, sha384, sha512/,
  ],
  ['algorithm', { read, encoding: 'hex', algorithm: 'toString' }, /^algorithm must be one of /],
  ['encoding', { read, encoding: 'base64url' }, /^encoding must be "hex" or "base64", got "base64url"/],
  ['encoding', { read }, /^encoding must be "hex" or "base64", got undefined/],
  ['read', { encoding: 'hex' }, /^read of hmacSignature must be a function/],
  ['key', { read, encoding: 'hex', key: 'secret' }, /^key of hmacSignature must be a function/],
  ['toleranceMs', { read, encoding: 'hex', toleranceMs: -1 }, /^toleranceMs /],
  ['an unknown option', { read, encoding: 'hex', algoritm: 'sha1' }, /algoritm/],
])('a wrong %s throws at construction', (_name, options, message) => {
  expect(() => Reflect.apply(hmacSignature, undefined, [options])).toThrow(
    expect.objectContaining({ code: 'configuration_invalid', message: expect.stringMatching(message) }),
  );
});
