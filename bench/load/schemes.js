import { bearerToken } from '../contenders/credentials.js';

/** Stands where the signature will be: 64 hex digits. */
export const SIGNATURE_PLACEHOLDER = '@'.repeat(64);

/**
 * How a service signs: the headers it sends besides those of every delivery, and what it signs before the
 * body.
 *
 * @typedef {{ headers: readonly string[], prefix: string }} Scheme
 */

/**
 * The schemes of the contenders. All of them are HMAC-SHA256 in hex, and all deliveries carry the bearer
 * token.
 *
 * @type {Readonly<Record<string, () => Scheme>>}
 */
export const schemes = {
  service: () => ({ headers: [`x-service-signature: ${SIGNATURE_PLACEHOLDER}`], prefix: '' }),
  github: () => ({
    headers: [
      'x-github-event: push',
      'x-github-delivery: 72d3162e-cc78-11e3-81ab-4c9367dc0958',
      `x-hub-signature-256: sha256=${SIGNATURE_PLACEHOLDER}`,
    ],
    prefix: '',
  }),
  stripe: () => {
    const seconds = Math.floor(Date.now() / 1000);
    return { headers: [`stripe-signature: t=${seconds},v1=${SIGNATURE_PLACEHOLDER}`], prefix: `${seconds}.` };
  },
};

/**
 * The head of a request.
 *
 * @param {Scheme} scheme
 * @param {number} bodyBytes
 */
export function headOf({ headers }, bodyBytes) {
  return [
    'POST /webhooks HTTP/1.1',
    'host: 127.0.0.1',
    'content-type: application/json',
    `content-length: ${bodyBytes}`,
    `authorization: Bearer ${bearerToken}`,
    ...headers,
    '\r\n',
  ].join('\r\n');
}
