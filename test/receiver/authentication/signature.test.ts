import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { ConfigurationError, sign, verifySignature } from 'posthorn';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { anyCharacter } from '../../support/any-character.ts';
import { packageRoot } from '../../support/child-program.ts';

const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');

describe('RFC 4231', () => {
  const vectors: readonly { name: string; key: Uint8Array; body: Uint8Array; hmac: string }[] = [
    {
      name: 'case 1',
      key: Buffer.alloc(20, 0x0b),
      body: Buffer.from('Hi There'),
      hmac: 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
    },
    {
      name: 'case 2, a key shorter than the digest',
      key: Buffer.from('Jefe'),
      body: Buffer.from('what do ya want for nothing?'),
      hmac: '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    },
    {
      name: 'case 3',
      key: Buffer.alloc(20, 0xaa),
      body: Buffer.alloc(50, 0xdd),
      hmac: '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe',
    },
    {
      name: 'case 4',
      key: bytes('0102030405060708090a0b0c0d0e0f10111213141516171819'),
      body: Buffer.alloc(50, 0xcd),
      hmac: '82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b',
    },
    {
      name: 'case 6, a key longer than the block',
      key: Buffer.alloc(131, 0xaa),
      body: Buffer.from('Test Using Larger Than Block-Size Key - Hash Key First'),
      hmac: '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
    },
    {
      name: 'case 7, key and data longer than the block',
      key: Buffer.alloc(131, 0xaa),
      body: Buffer.from(
        'This is a test using a larger than block-size key and a larger than block-size data. ' +
          'The key needs to be hashed before being used by the HMAC algorithm.',
      ),
      hmac: '9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2',
    },
  ];

  test.each(vectors)('$name', ({ key, body, hmac }) => {
    expect(sign(body, key)).toBe(hmac);
    expect(verifySignature(body, hmac, key)).toBe(true);
  });

  test('case 5: a truncated tag is the beginning of the signature, and is refused', () => {
    const key = Buffer.alloc(20, 0x0c);
    const tag = 'a3b6167473100ee06e0c796c2955552b';
    expect(sign('Test With Truncation', key).slice(0, 32)).toBe(tag);
    expect(verifySignature('Test With Truncation', tag, key)).toBe(false);
  });
});

const wycheproof = join(packageRoot, '../shared/vectors/hmac_sha256_test.json');
if (existsSync(wycheproof)) testWycheproof();
else {
  const notice = `NO WYCHEPROOF VECTORS: ${wycheproof} is absent; only RFC 4231 and openssl are checked`;
  process.stderr.write(`\n${notice}\n\n`);
  test.skip(notice, () => {});
}

function testWycheproof(): void {
  const vector = z.object({
    tcId: z.number(),
    key: z.string(),
    msg: z.string(),
    tag: z.string(),
    result: z.enum(['valid', 'invalid']),
  });
  const group = z.object({ tagSize: z.union([z.literal(256), z.literal(128)]), tests: z.array(vector) });
  const file = z.object({ numberOfTests: z.number(), testGroups: z.array(group) });
  const { numberOfTests, testGroups } = file.parse(JSON.parse(readFileSync(wycheproof, 'utf8')));

  test(`all ${numberOfTests} Wycheproof vectors`, () => {
    let count = 0;
    for (const { tagSize, tests } of testGroups) {
      for (const { tcId, key, msg, tag, result } of tests) {
        count += 1;
        const [body, secret, valid] = [bytes(msg), bytes(key), result === 'valid'];
        const signature = sign(body, secret);
        expect(signature.slice(0, tagSize / 4) === tag, `sign, vector ${tcId}`).toBe(valid);
        expect(verifySignature(body, tag, secret), `verify, vector ${tcId}`).toBe(valid && tagSize === 256);
        expect(verifySignature(body, tag.padEnd(64, '0'), secret), `padded, vector ${tcId}`).toBe(
          valid && tagSize === 256,
        );
      }
    }
    expect(count).toBe(numberOfTests);
    expect(count).toBeGreaterThan(0);
  });
}

const key = fc.uint8Array({ minLength: 1, maxLength: 200 });
const body = fc.uint8Array({ maxLength: 2_000 });

describe('verifySignature', () => {
  test('takes hex in either case, and nothing but the 64 digits of the signature', () => {
    const signature = sign('{}', 'k');
    expect(signature).toMatch(/^[0-9a-f]{64}$/);
    expect(verifySignature('{}', signature.toUpperCase(), 'k')).toBe(true);
    const malformed = ['', signature.slice(1), `${signature}0`, ` ${signature}`, `${signature}\n`];
    for (const text of [...malformed, `sha256=${signature}`, signature.replace(/^./, 'g')]) {
      expect(verifySignature('{}', text, 'k'), JSON.stringify(text)).toBe(false);
    }
  });

  test('takes text as UTF-8, body and key', () => {
    expect(sign('é🎺', 'clé')).toBe(sign(Buffer.from('é🎺'), Buffer.from('clé')));
  });

  test('accepts what any of several keys signed', () => {
    const keys = ['old', Buffer.from('new')];
    expect(verifySignature('{}', sign('{}', 'old'), keys)).toBe(true);
    expect(verifySignature('{}', sign('{}', 'new'), keys)).toBe(true);
    expect(verifySignature('{}', sign('{}', 'other'), keys)).toBe(false);
  });

  // The next two compute for seconds on a busy machine.
  const timeout = 60_000;
  const title = 'is true for the signature of the body under the key and for no other text; it never throws';
  test(title, { timeout }, () => {
    const hex64 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((b) => Buffer.from(b).toString('hex'));
    const anyText = fc.oneof(fc.string({ unit: anyCharacter, maxLength: 80 }), hex64);
    fc.assert(
      fc.property(body, key, anyText, (body, key, text) => {
        expect(verifySignature(body, text, key)).toBe(text.toLowerCase() === sign(body, key));
      }),
    );
  });

  const flip = (source: Uint8Array, bit: number): Uint8Array => {
    const at = Math.floor(bit / 8) % source.length;
    return source.map((byte, index) => (index === at ? byte ^ (1 << (bit % 8)) : byte));
  };

  test('each of the 256 bits of a signature counts', () => {
    const signature = bytes(sign('{}', 'k'));
    for (let bit = 0; bit < 256; bit += 1) {
      const flipped = Buffer.from(flip(signature, bit)).toString('hex');
      expect(verifySignature('{}', flipped, 'k'), `bit ${bit}`).toBe(false);
    }
  });

  test('any single changed bit of body or key is refused', { timeout }, () => {
    const somewhere = fc.nat({ max: 16_000 });
    // Keys of one length: HMAC pads short keys with zeros, so that keys of different lengths can be the same.
    const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), key, somewhere, (body, key, bit) => {
        const signature = sign(body, key);
        expect(verifySignature(flip(body, bit), signature, key)).toBe(false);
        expect(verifySignature(body, signature, flip(key, bit))).toBe(false);
      }),
    );
  });
});

describe('a missing or empty key never means "no check"', () => {
  const nothing = [undefined, null, '', new Uint8Array(), [], [''], [new Uint8Array()], ['k', ''], 5, {}];

  test.each(nothing.map((value) => ({ value })))('verifySignature with $value throws', ({ value }) => {
    for (const signature of [sign('{}', 'k'), 'malformed']) {
      const call = (): unknown => Reflect.apply(verifySignature, undefined, ['{}', signature, value]);
      expect(call).toThrow(ConfigurationError);
    }
  });

  test.each(nothing.map((value) => ({ value })))('sign with $value throws', ({ value }) => {
    expect(() => Reflect.apply(sign, undefined, ['{}', value])).toThrow(ConfigurationError);
  });
});
