import { checkFunction } from '../checks/called-functions.ts';
import { checkOptions, invalidOption, readDuration } from '../checks/check-options.ts';
import { show } from '../values/foreign-values.ts';
import { DIGEST_BYTES, HmacScheme, type HmacSignatureOptions } from './hmac-scheme.ts';
import type { SignatureScheme } from './signature-check.ts';

/**
 * Creates the signature scheme of a sender that signs by HMAC. The receiver bounds what is read, compares in
 * constant time, and refuses a signed time that is too far from its clock (`signature_expired`).
 *
 * @throws ConfigurationError for a wrong or unknown option.
 *
 * @example
 * ```ts
 * import { hmacSignature } from 'posthorn';
 *
 * const signature = hmacSignature({
 *   encoding: 'hex',
 *   read: (headers) => ({ signatures: [headers.get('x-vendor-signature') ?? ''] }),
 * });
 * ```
 */
export function hmacSignature(options: HmacSignatureOptions): SignatureScheme {
  checkOptions(options, ['read', 'key', 'encoding', 'algorithm', 'toleranceMs'], 'hmacSignature');
  const { read, key, encoding, algorithm = 'sha256', toleranceMs = 300_000 } = options;
  checkFunction(read, 'read of hmacSignature');
  if (key !== undefined) checkFunction(key, 'key of hmacSignature');
  if (encoding !== 'hex' && encoding !== 'base64')
    throw invalidOption('encoding', `must be "hex" or "base64", got ${show(encoding)}`);
  if (!Object.hasOwn(DIGEST_BYTES, algorithm))
    throw invalidOption(
      'algorithm',
      `must be one of ${Object.keys(DIGEST_BYTES).join(', ')}, got ${show(algorithm)}`,
    );
  readDuration('toleranceMs', toleranceMs);
  return new HmacScheme({ read, key, encoding, algorithm, toleranceMs });
}
