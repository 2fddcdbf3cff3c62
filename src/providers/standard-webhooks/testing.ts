import { createHash } from 'node:crypto';
import { sign } from '../../receiver/authentication/signature.ts';
import type { ProviderTesting } from '../../receiver/provider/provider.ts';
import { propertyOf, textOf } from '../../receiver/values/foreign-values.ts';
import { parseJson } from '../parse-json.ts';
import { decodeSecret } from './secret.ts';

/** Plays a sender of Standard Webhooks; `headerOf` returns the name of a header by its part. */
export function testingWith(headerOf: (part: string) => string): ProviderTesting {
  return {
    createEvent: ({ id, type, createdAtMs, data = { id: 'sample' } }) => {
      return { id, type, timestamp: new Date(createdAtMs).toISOString(), data };
    },
    sign: ({ rawBody, key, signedAtMs }) => {
      const id = idIn(rawBody);
      const time = Math.floor(signedAtMs / 1_000);
      const hex = sign(Buffer.concat([Buffer.from(`${id}.${time}.`), rawBody]), decodeSecret(key));
      return {
        [headerOf('id')]: id,
        [headerOf('timestamp')]: String(time),
        [headerOf('signature')]: `v1,${Buffer.from(hex, 'hex').toString('base64')}`,
      };
    },
  };
}

/** The id that `createEvent` wrote; for any other body, one that is the same for the same body. */
function idIn(rawBody: Uint8Array): string {
  try {
    const id = textOf(propertyOf(parseJson(rawBody), 'id'));
    if (id !== undefined) return id;
  } catch {}
  return `msg_${createHash('sha256').update(rawBody).digest('hex')}`;
}
