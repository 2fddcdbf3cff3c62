import { createHash, createHmac } from 'node:crypto';
import type { Headers, Scheme } from './schemes.ts';

/** What a sender, or somebody else, sends. */
export interface Sent {
  readonly body: string | Uint8Array;
  readonly headers: Headers;
  /** The receiver's keys; the scheme's first one by default. */
  readonly signingKey?: readonly string[];
}

export interface SignatureCase {
  readonly name: string;
  /** Undefined if the scheme has nothing of the kind. */
  readonly send: (scheme: Scheme, now: number) => Sent | undefined;
  /** The answer: `processed`, or the code of a refusal. */
  readonly answer: string;
  /** Why the sender's package says something else, by the name of the scheme. */
  readonly differs?: Readonly<Record<string, string>>;
}

export const event = {
  id: 'msg_1',
  type: 'transfer.created',
  created_at: '',
  created: 0,
  data: { object: {} },
  event_id: 'msg_1',
  event: { type: 'transfer.created' },
};

/** An event that every sender could send, created now. */
export const bodyAt = (now: number): string =>
  JSON.stringify({ ...event, created: now, created_at: new Date(now * 1_000).toISOString() });

/** Signed headers, with another value of the header that has the signature. */
const changed = (
  scheme: Scheme,
  headers: Record<string, string>,
  change: (value: string) => string | readonly string[],
): Headers => ({ ...headers, [scheme.header]: change(headers[scheme.header] ?? '') });

type Signed = (scheme: Scheme, now: number) => Record<string, string>;
const rightly: Signed = (scheme, now) => scheme.sign(Buffer.from(bodyAt(now)), scheme.keys[0], now);
const bySecond: Signed = (scheme, now) => scheme.sign(Buffer.from(bodyAt(now)), scheme.keys[1], now);

const withHeader =
  (change: (value: string) => string | readonly string[]): SignatureCase['send'] =>
  (scheme, now) => ({ body: bodyAt(now), headers: changed(scheme, rightly(scheme, now), change) });

const withVersion =
  (change: (version: string) => string): SignatureCase['send'] =>
  (scheme, now) => {
    const { version } = scheme;
    if (version === undefined) return undefined;
    return withHeader((value) => value.replace(version, change))(scheme, now);
  };

const signedAt =
  (offset: number): SignatureCase['send'] =>
  (scheme, now) => {
    const body = bodyAt(now);
    const headers = scheme.sign(Buffer.from(body), scheme.keys[0], now + offset);
    return scheme.withTime && { body, headers };
  };

const withTimeText =
  (textOf: (now: number) => string): SignatureCase['send'] =>
  (scheme, now) =>
    scheme.withTime && { body: bodyAt(now), headers: scheme.withTime(rightly(scheme, now), textOf(now)) };

/** A body that the sender signs, but that is not an event. */
const signedBody =
  (bodyOf: (now: number) => string | Uint8Array): SignatureCase['send'] =>
  (scheme, now) => {
    const body = bodyOf(now);
    return { body, headers: scheme.sign(Buffer.from(body), scheme.keys[0], now) };
  };

/** Another type, in the body or in its header. */
const withType =
  (change: (body: string) => string, header: string | undefined): SignatureCase['send'] =>
  (scheme, now) => {
    const { typeHeader } = scheme;
    if (typeHeader === undefined) return signedBody(() => change(bodyAt(now)))(scheme, now);
    const { [typeHeader]: _, ...headers } = rightly(scheme, now);
    return {
      body: bodyAt(now),
      headers: header === undefined ? headers : { ...headers, [typeHeader]: header },
    };
  };

/** The last hex digit or character of a text, changed. */
const altered = (value: string): string =>
  value.replace(/[0-9a-zA-Z](?==?$)/, (last) =>
    last === '0' || last === 'A' ? 'E' : last === 'a' ? 'e' : last === 'E' ? 'I' : '0',
  );

const noCheck = 'it does not look into the event';
const unchecked = { Stripe: noCheck, 'Standard Webhooks': noCheck, GitHub: noCheck, Slack: noCheck };
const decodes = 'it decodes the body first';
const readsTooMuch = 'it has no limit';

/** What is sent, and the answer: for each scheme, and compared with what the sender's package says. */
export const signatureCases: readonly SignatureCase[] = [
  { name: 'signed rightly', send: withHeader((value) => value), answer: 'processed' },
  {
    name: 'signed by the second of two keys',
    send: (scheme, now) => ({ body: bodyAt(now), headers: bySecond(scheme, now), signingKey: scheme.keys }),
    answer: 'processed',
  },
  {
    name: 'signed by another key',
    send: (scheme, now) => ({ body: bodyAt(now), headers: bySecond(scheme, now) }),
    answer: 'signature_mismatch',
  },
  {
    name: 'an altered body',
    send: (scheme, now) => ({ body: bodyAt(now).replace('{', '{ '), headers: rightly(scheme, now) }),
    answer: 'signature_mismatch',
  },
  { name: 'an altered signature', send: withHeader(altered), answer: 'signature_mismatch' },
  ...['the other one first', 'the other one last'].map(
    (name, index): SignatureCase => ({
      name: `two signatures, ${name}`,
      send: (scheme, now) => {
        const values = [bySecond(scheme, now), rightly(scheme, now)].map(
          (headers) => headers[scheme.header] ?? '',
        );
        const [one = '', other = ''] = index === 0 ? values : values.reverse();
        return (
          scheme.join && {
            body: bodyAt(now),
            headers: changed(scheme, rightly(scheme, now), () => scheme.join?.(one, other) ?? ''),
          }
        );
      },
      answer: 'processed',
    }),
  ),
  {
    name: 'sixteen signatures, the right one last',
    send: (scheme, now) => many(scheme, now, 15),
    answer: 'processed',
  },
  {
    name: 'seventeen signatures, the right one last',
    send: (scheme, now) => many(scheme, now, 16),
    answer: 'signature_malformed',
    differs: { Stripe: readsTooMuch, 'Standard Webhooks': readsTooMuch },
  },
  {
    name: 'another version of the scheme',
    send: withVersion(() => 'v2'),
    answer: 'signature_malformed',
  },
  { name: 'a prefix', send: withHeader((value) => `sha256=${value}`), answer: 'signature_malformed' },
  {
    name: 'a version in upper case',
    send: withVersion((version) => version.toUpperCase()),
    answer: 'signature_malformed',
  },
  {
    name: 'hex digits in upper case',
    send: (scheme, now) =>
      scheme.encoding === 'hex'
        ? {
            body: bodyAt(now),
            headers: changed(scheme, rightly(scheme, now), (value) =>
              value.replace(/[0-9a-f]{64}/, (hex) => hex.toUpperCase()),
            ),
          }
        : undefined,
    answer: 'processed',
    differs: { Stripe: 'it compares texts', GitHub: 'it compares texts', Slack: 'it compares texts' },
  },
  {
    name: 'base64 without padding',
    send: (scheme, now) =>
      scheme.encoding === 'base64'
        ? {
            body: bodyAt(now),
            headers: changed(scheme, rightly(scheme, now), (value) => value.replace('=', '')),
          }
        : undefined,
    answer: 'signature_malformed',
  },
  { name: 'an empty header', send: withHeader(() => ''), answer: 'signature_malformed' },
  {
    name: 'an empty signature beside the right one',
    send: (scheme, now) =>
      scheme.name === 'Stripe'
        ? { body: bodyAt(now), headers: changed(scheme, rightly(scheme, now), (value) => `${value},v1=`) }
        : undefined,
    answer: 'signature_malformed',
  },
  {
    name: 'no header',
    send: (scheme, now) => {
      const { [scheme.header]: _, ...headers } = rightly(scheme, now);
      return { body: bodyAt(now), headers };
    },
    answer: 'signature_missing',
  },
  {
    name: 'a repeated header',
    send: withHeader((value) => [value, value]),
    answer: 'signature_repeated',
    differs: { Stripe: 'it gets both as one text', 'Standard Webhooks': 'it gets both as one text' },
  },
  {
    name: 'an oversized header',
    send: (scheme, now) => {
      const filler = scheme.name === 'Stripe' ? `,x=${'x'.repeat(4_096)}` : ` v2,${'x'.repeat(4_096)}`;
      return { body: bodyAt(now), headers: changed(scheme, rightly(scheme, now), (value) => value + filler) };
    },
    answer: 'signature_malformed',
    differs: { Stripe: readsTooMuch, 'Standard Webhooks': readsTooMuch },
  },
  {
    name: 'a cut signature',
    send: withHeader((value) => value.replace(/.=?$/, '')),
    answer: 'signature_malformed',
  },
  {
    name: 'a doubled signature',
    send: withHeader((value) => value + value.replace(/^.*(v1.|^)/, '')),
    answer: 'signature_malformed',
  },
  { name: 'no time', send: withTimeText(() => ''), answer: 'signature_malformed' },
  { name: 'a time that is not a number', send: withTimeText(() => 't=now'), answer: 'signature_malformed' },
  {
    name: 'a time that is not a number, signed as one',
    send: ({ keys: [key], name }, now) => {
      if (name !== 'Stripe') return undefined;
      const signature = createHmac('sha256', key)
        .update(`NaN.${bodyAt(now)}`)
        .digest('hex');
      return { body: bodyAt(now), headers: { 'stripe-signature': `t=now,v1=${signature}` } };
    },
    answer: 'signature_malformed',
    differs: { Stripe: 'it accepts NaN at any time' },
  },
  { name: 'a time below zero', send: withTimeText(() => 't=-1'), answer: 'signature_malformed' },
  {
    name: 'another time than the signed one',
    send: withTimeText((now) => `t=${now - 1}`),
    answer: 'signature_mismatch',
  },
  { name: 'a time with leading zeros', send: withTimeText((now) => `t=00${now}`), answer: 'processed' },
  {
    name: 'a time with a fraction',
    // Slack's package signs the fraction.
    send: (scheme, now) =>
      scheme.name === 'Slack' ? undefined : withTimeText(() => `t=${now}.9`)(scheme, now),
    answer: 'processed',
  },
  { name: 'a time of five minutes ago', send: signedAt(-300), answer: 'processed' },
  { name: 'an older time', send: signedAt(-301), answer: 'signature_expired' },
  { name: 'a time five minutes ahead', send: signedAt(300), answer: 'processed' },
  {
    name: 'a time further ahead',
    send: signedAt(301),
    answer: 'signature_expired',
    differs: { Stripe: 'it accepts any time ahead', Slack: 'it accepts any time ahead' },
  },
  {
    name: 'no id',
    send: (scheme, now) => {
      const { body, drop } = scheme.withoutId({ body: bodyAt(now) });
      const headers = scheme.sign(Buffer.from(body), scheme.keys[0], now);
      if (drop !== undefined) delete headers[drop];
      return { body, headers };
    },
    answer: 'no id',
    differs: { Stripe: noCheck, GitHub: noCheck, Slack: noCheck },
  },
  {
    name: 'no type',
    send: withType((body) => body.replaceAll('"type"', '"kind"'), undefined),
    answer: 'envelope_invalid',
    differs: unchecked,
  },
  {
    name: 'an empty type',
    send: withType((body) => body.replaceAll('transfer.created', ''), ''),
    answer: 'envelope_invalid',
    differs: unchecked,
  },
  {
    name: 'not an object',
    send: signedBody((now) => `[${bodyAt(now)}]`),
    answer: 'envelope_invalid',
    differs: { ...unchecked, Shopify: noCheck },
  },
  {
    name: 'not UTF-8, and signed as it is',
    send: ({ keys: [key], provider: { testing } }, now) => {
      const body = notUtf8(now);
      const signedAtMs = now * 1_000;
      return { body, headers: testing?.sign({ rawBody: body, key, signedAtMs, event }) ?? {} };
    },
    answer: 'body_not_json',
  },
  {
    name: 'not UTF-8, and signed as the text that replaces it',
    send: (scheme, now) =>
      scheme.accepts && {
        body: notUtf8(now),
        headers: scheme.sign(Buffer.from(notUtf8(now).toString()), scheme.keys[0], now),
      },
    answer: 'signature_mismatch',
    differs: {
      Stripe: decodes,
      'Standard Webhooks': decodes,
      GitHub: decodes,
      Shopify: decodes,
      Slack: decodes,
    },
  },
  {
    name: 'not JSON',
    send: signedBody(() => 'event=1'),
    answer: 'body_not_json',
    differs: { GitHub: noCheck, Shopify: noCheck, Slack: noCheck },
  },
];

function notUtf8(now: number): Buffer {
  const body = Buffer.from(bodyAt(now));
  body[body.indexOf('transfer')] = 0xff;
  return body;
}

/** The right signature behind others. */
function many(scheme: Scheme, now: number, others: number): Sent | undefined {
  const digest = (index: number) => createHash('sha256').update(String(index)).digest(scheme.encoding);
  const [before, after] = scheme.name === 'Stripe' ? [',v1=', ','] : [' v1,', ' '];
  const list = Array.from({ length: others }, (_, index) => `${before.slice(1)}${digest(index)}`).join(after);
  const join = (value: string): string =>
    scheme.name === 'Stripe' ? value.replace(',', `,${list},`) : `${list} ${value}`;
  return scheme.join && { body: bodyAt(now), headers: changed(scheme, rightly(scheme, now), join) };
}
