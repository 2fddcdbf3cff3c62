import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { body, schemes, senderOf } from './hmac-algorithms.ts';

test.each(schemes)('openssl as another signer agrees: %s in %s', async (algorithm, encoding) => {
  for (const length of [1, 64, 128, 200]) {
    const key = randomBytes(length);
    const args = [
      'dgst',
      `-${algorithm}`,
      '-mac',
      'HMAC',
      '-macopt',
      `hexkey:${key.toString('hex')}`,
      '-binary',
    ];
    const signature = execFileSync('openssl', args, { input: body }).toString(encoding);
    const send = senderOf(algorithm, encoding, key);
    expect(await send(signature), `${length}`).toBe('200');
    expect(await send(signature, `${body} `), `${length}`).toBe('403 signature_mismatch');
  }
});
