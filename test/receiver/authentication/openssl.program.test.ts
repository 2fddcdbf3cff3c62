import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { createReceiver, sign, verifySignature } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { post, serve } from '../../support/served.ts';

function opensslSign(body: Uint8Array, key: Uint8Array): string {
  const hexkey = `hexkey:${Buffer.from(key).toString('hex')}`;
  const args = ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', hexkey];
  const output = execFileSync('openssl', args, { input: body, encoding: 'utf8' });
  return /([0-9a-f]{64})\s*$/.exec(output)?.[1] ?? output;
}

const key = fc.uint8Array({ minLength: 1, maxLength: 200 });
const body = fc.uint8Array({ maxLength: 2_000 });

describe('openssl as another signer', () => {
  test('agrees on any body and any key of bytes', () => {
    fc.assert(
      fc.property(body, key, (body, key) => {
        const signature = opensslSign(body, key);
        expect(sign(body, key)).toBe(signature);
        expect(verifySignature(body, signature, key)).toBe(true);
      }),
      { numRuns: 25 },
    );
  });

  /**
   * Both sides of each length at which another method may take over: of a block of SHA-256, and of what is
   * worth copying.
   */
  const keyLengths = [1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1_000];
  const bodyLengths = [
    0, 1, 31, 32, 33, 55, 56, 63, 64, 65, 4_095, 4_096, 4_097, 16_319, 16_320, 16_321,
  ].concat([16_383, 16_384, 16_385, 65_535, 65_536, 65_537, 1_048_576]);
  const lengths = [
    ...bodyLengths.flatMap((body) => [64, 65].map((key) => ({ body, key }))),
    ...keyLengths.flatMap((key) => [100, 16_384, 16_385].map((body) => ({ body, key }))),
  ];

  test('agrees on both sides of every length at which the method changes', () => {
    for (const length of lengths) {
      const [body, key] = [randomBytes(length.body), randomBytes(length.key)];
      expect(sign(body, key), JSON.stringify(length)).toBe(opensslSign(body, key));
      // Nothing of one body is left for the next, which is shorter.
      expect(sign(body.subarray(0, 10), key)).toBe(opensslSign(body.subarray(0, 10), key));
    }
  });

  test('a delivery that it signed is accepted, and refused with one byte changed', async () => {
    const signingKey = Buffer.from('00ff10'.repeat(11), 'hex');
    const receiver = createReceiver({ signingKey }).observe(() => {});
    const seen: string[] = [];
    receiver.on('transfer.succeeded', ({ id }) => seen.push(id));
    const url = await serve(receiver);
    const event = createEvent('transfer.succeeded', { note: 'é ✓ 🎺' });
    const sent = JSON.stringify(event);
    const headers = { 'x-service-signature': opensslSign(Buffer.from(sent), signingKey) };
    expect(await post(url, sent, headers)).toMatchObject({ status: 200 });
    expect(await post(url, sent.replace('🎺', '🎻'), headers)).toMatchObject({ status: 403 });
    expect(seen).toEqual([event.id]);
  });
});
