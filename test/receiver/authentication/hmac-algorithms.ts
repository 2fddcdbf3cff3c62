import { createReceiver, type HmacAlgorithm, type HmacEncoding, hmacSignature, type Report } from 'posthorn';
import { acme, acmeEvent, toDelivery } from '../provider/senders.ts';

/** Each hash and encoding of `hmacSignature`. */
export const schemes: readonly (readonly [HmacAlgorithm, HmacEncoding])[] = (
  ['sha1', 'sha256', 'sha384', 'sha512'] as const
).flatMap((algorithm) => (['hex', 'base64'] as const).map((encoding) => [algorithm, encoding] as const));

/** The body of an event of "acme". */
export const body: string = JSON.stringify(acmeEvent());

/**
 * Returns a function that sends a body with a signature of this scheme to a receiver, and resolves with the
 * status and the code.
 */
export function senderOf(
  algorithm: HmacAlgorithm | undefined,
  encoding: HmacEncoding,
  signingKey: string | Uint8Array,
): (signature: string, sent?: string) => Promise<string> {
  const reports: Report[] = [];
  const read = hmacSignature({
    algorithm,
    encoding,
    read: (headers) => ({ signatures: [headers.get('acme-signature') ?? ''] }),
  });
  const receiver = createReceiver({ provider: acme({ signature: read }), signingKey });
  receiver.observe((report) => reports.push(report)).on('*', () => {});
  return async (signature, sent = body) => {
    const { status } = await receiver.receive(toDelivery(sent, { 'acme-signature': signature }));
    return [status, reports.at(-1)?.code].join(' ').trim();
  };
}
