import { createHmac } from 'node:crypto';
import { verify } from '@octokit/webhooks-methods';
import '@shopify/shopify-api/adapters/mock';
import { ApiVersion, LogSeverity, shopifyApi } from '@shopify/shopify-api';
import { getHmac } from '@shopify/shopify-api/test-helpers';
import { verifySlackRequest } from '@slack/bolt';
import type { Provider } from 'posthorn';
import { bankingService, github, shopify, slack, standardWebhooks, stripe } from 'posthorn/providers';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';

export type Headers = Readonly<Record<string, string | readonly string[]>>;

/** How a sender signs, told by its own package, so that posthorn's reading has another side. */
export interface Scheme {
  readonly name: string;
  readonly provider: Provider;
  /** Any two keys of the sender's form. */
  readonly keys: readonly [string, string];
  readonly encoding: 'hex' | 'base64';
  /** The header that has the signature. */
  readonly header: string;
  /** The headers of a body that the sender signs at a time, in seconds since the epoch. */
  readonly sign: (body: Uint8Array, key: string, time: number) => Record<string, string>;
  /** What the sender's package says; undefined if there is none. */
  readonly accepts?: (body: Uint8Array, headers: Headers, key: string) => boolean | Promise<boolean>;
  /** The version of the scheme, as it stands before a signature. */
  readonly version?: string;
  /** If the time is signed: the same headers with another text for it. */
  readonly withTime?: (headers: Record<string, string>, text: string) => Record<string, string>;
  /** If a header can hold several signatures: joins the values of two. */
  readonly join?: (one: string, other: string) => string;
  /** The header that has the type, if the body has none. */
  readonly typeHeader?: string;
  /** An event of the sender without its id. */
  readonly withoutId: (signed: { readonly body: string }) => { body: string; drop?: string };
}

const client = new Stripe('sk_test_none');
const shopifyApplication = {
  apiKey: 'none',
  hostName: 'billing.example.com',
  apiVersion: ApiVersion.July26,
  isEmbeddedApp: false,
  logger: { level: LogSeverity.Error },
};

/** As node:http gives them to a vendor's package: the values of a repeated header become one text. */
function single(headers: Headers): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]),
  );
}

function isAccepted(verify: () => unknown): boolean {
  try {
    verify();
    return true;
  } catch {
    return false;
  }
}

const withoutIdInBody: Scheme['withoutId'] = ({ body }) => {
  const { id: _, ...rest } = JSON.parse(body);
  return { body: JSON.stringify(rest) };
};

const base64 = (text: string): string => Buffer.from(text.repeat(4)).toString('base64');

export const schemes: readonly Scheme[] = [
  {
    name: 'the banking service',
    provider: bankingService(),
    keys: ['first key', 'second key'],
    encoding: 'hex',
    header: 'x-service-signature',
    sign: (body, key) => ({ 'x-service-signature': createHmac('sha256', key).update(body).digest('hex') }),
    withoutId: withoutIdInBody,
  },
  {
    name: 'Stripe',
    provider: stripe(),
    keys: ['whsec_first', 'whsec_second'],
    encoding: 'hex',
    header: 'stripe-signature',
    sign: (body, secret, timestamp) => ({
      'stripe-signature': client.webhooks.generateTestHeaderString({
        payload: Buffer.from(body).toString(),
        secret,
        timestamp,
      }),
    }),
    accepts: (body, headers, key) =>
      isAccepted(() =>
        client.webhooks.constructEvent(Buffer.from(body), single(headers)['stripe-signature'] ?? '', key),
      ),
    version: 'v1',
    withTime: (headers, text) => ({
      'stripe-signature': (headers['stripe-signature'] ?? '').replace(/^t=\d+/, text),
    }),
    join: (one, other) => `${one},${other.split(',').slice(1).join(',')}`,
    withoutId: withoutIdInBody,
  },
  {
    name: 'Standard Webhooks',
    provider: standardWebhooks(),
    keys: [`whsec_${base64('first')}`, base64('second')],
    encoding: 'base64',
    header: 'webhook-signature',
    sign: (body, key, time) => ({
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(time),
      'webhook-signature': new Webhook(key).sign(
        'msg_1',
        new Date(time * 1_000),
        Buffer.from(body).toString(),
      ),
    }),
    accepts: (body, headers, key) =>
      isAccepted(() => new Webhook(key).verify(Buffer.from(body), single(headers))),
    version: 'v1',
    withTime: (headers, text) => ({ ...headers, 'webhook-timestamp': text.replace('t=', '') }),
    join: (one, other) => `${one} ${other}`,
    withoutId: ({ body }) => ({ body, drop: 'webhook-id' }),
  },
  {
    name: 'GitHub',
    provider: github(),
    keys: ['first secret', 'second secret'],
    encoding: 'hex',
    header: 'x-hub-signature-256',
    sign: (body, key) => ({
      'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      'x-github-event': 'transfer.created',
      'x-hub-signature-256': `sha256=${createHmac('sha256', key).update(body).digest('hex')}`,
    }),
    accepts: async (body, headers, key) => {
      const signature = single(headers)['x-hub-signature-256'];
      return signature ? await verify(key, Buffer.from(body).toString(), signature) : false;
    },
    version: 'sha256',
    typeHeader: 'x-github-event',
    withoutId: ({ body }) => ({ body, drop: 'x-github-delivery' }),
  },
  {
    name: 'Shopify',
    provider: shopify(),
    keys: ['shpss_first', 'shpss_second'],
    encoding: 'base64',
    header: 'x-shopify-hmac-sha256',
    sign: (body, key) => ({
      'x-shopify-topic': 'transfer/created',
      'x-shopify-shop-domain': 'example.myshopify.com',
      'x-shopify-api-version': '2026-10',
      'x-shopify-webhook-id': 'msg_1',
      'x-shopify-hmac-sha256': getHmac(Buffer.from(body).toString(), key),
    }),
    accepts: async (body, headers, apiSecretKey) => {
      const { webhooks } = shopifyApi({ ...shopifyApplication, apiSecretKey });
      const rawRequest = { headers: single(headers) };
      return (await webhooks.validate({ rawBody: Buffer.from(body).toString(), rawRequest })).valid;
    },
    typeHeader: 'x-shopify-topic',
    withoutId: ({ body }) => ({ body, drop: 'x-shopify-webhook-id' }),
  },
  {
    name: 'Slack',
    provider: slack(),
    keys: ['first secret', 'second secret'],
    encoding: 'hex',
    header: 'x-slack-signature',
    // Its package signs nothing.
    sign: (rawBody, key, time) => ({
      ...slack().testing?.sign({ rawBody, key, signedAtMs: time * 1_000 }),
    }),
    accepts: (body, headers, signingSecret) => {
      const { 'x-slack-signature': signature = '', 'x-slack-request-timestamp': time } = single(headers);
      // As the receiver of its package calls it.
      const sent = { 'x-slack-signature': signature, 'x-slack-request-timestamp': Number(time) };
      return isAccepted(() =>
        verifySlackRequest({ signingSecret, body: Buffer.from(body).toString(), headers: sent }),
      );
    },
    version: 'v0',
    withTime: (headers, text) => ({ ...headers, 'x-slack-request-timestamp': text.replace('t=', '') }),
    withoutId: ({ body }) => ({ body: body.replace('event_id', 'other_id') }),
  },
];
