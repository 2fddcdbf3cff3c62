import { createHmac, timingSafeEqual } from 'node:crypto';
import { Webhooks } from '@octokit/webhooks';
import { bench, group, do_not_optimize as keep } from 'mitata';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import { createReceiver, sign, verifySignature } from '../../dist/src/index.js';
import { signingKey } from '../contenders/credentials.js';
import { createTemplate } from '../load/event-template.js';
import { compareInPairs } from './pairs.js';

export const title = 'verify';
export const sizes = [700, 10_000, 100_000];
export const contender = 'posthorn verifySignature';

/**
 * All peers get the body in the form that suits them best, and none has to parse it where it can be told not
 * to.
 */
export function register() {
  for (const bytes of sizes) {
    const { body } = createTemplate(bytes);
    const at = suffixOf(bytes);
    group(`verify${at}`, () => {
      const signature = sign(body, signingKey);
      bench(contender + at, () => keep(verifySignature(body, signature, signingKey)));
      bench(`createHmac with a string key, timingSafeEqual${at}`, () => keep(verifyByHand(body, signature)));
      registerPeers(body.toString(), at);
      registerReceiver(body, signature, at);
    });
  }
}

/**
 * posthorn in pairs with `createHmac` and a string key, the fastest other so far, because at 100 kB both are
 * SHA-256 and little else; and that other with itself, which shows what chance makes of it.
 *
 * @param {number} bytes
 */
export function compareAt(bytes) {
  const { body } = createTemplate(bytes);
  const signature = sign(body, signingKey);
  const byHand = () => verifyByHand(body, signature);
  // As many calls as take ten microseconds or more: reading the clock takes a thirtieth of a microsecond.
  const course = { pairs: 10_000, calls: Math.ceil(10_000 / bytes) };
  return {
    own: compareInPairs(() => verifySignature(body, signature, signingKey), byHand, course),
    control: compareInPairs(() => verifyByHand(body, signature), byHand, course),
  };
}

/**
 * What the names of the benchmarks of one size end in.
 *
 * @param {number} bytes
 */
export const suffixOf = (bytes) => `: ${bytes} B`;

/**
 * @param {Buffer} body
 * @param {string} signature
 */
function verifyByHand(body, signature) {
  const expected = createHmac('sha256', signingKey).update(body).digest();
  const given = Buffer.from(signature, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/**
 * @param {string} text
 * @param {string} at
 */
function registerPeers(text, at) {
  const octokit = new Webhooks({ secret: signingKey });
  const octokitSignature = `sha256=${sign(text, signingKey)}`;
  bench(`@octokit/webhooks verify${at}`, async () => keep(await octokit.verify(text, octokitSignature)));

  const stripe = new Stripe('sk_test_bench');
  const stripeHeader = stripe.webhooks.generateTestHeaderString({ payload: text, secret: signingKey });
  const { signature: stripeSignature } = stripe.webhooks;
  bench(`stripe verifyHeader${at}`, () =>
    keep(stripeSignature?.verifyHeader(text, stripeHeader, signingKey, 10_000)),
  );

  const standard = new StandardWebhook(Buffer.from(signingKey).toString('base64'));
  const headers = standardHeaders(standard, text);
  bench(`standardwebhooks verify${at}`, () => keep(standard.verify(text, headers, { jsonParse: false })));

  const svix = new SvixWebhook(Buffer.from(signingKey).toString('base64'));
  bench(`svix verify (parses too)${at}`, () => keep(svix.verify(text, headers)));
}

/**
 * @param {StandardWebhook} webhook
 * @param {string} text
 */
function standardHeaders(webhook, text) {
  const id = 'msg_bench';
  const now = new Date();
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': webhook.sign(id, now, text),
  };
}

/**
 * For comparison: it also checks credentials and the envelope, and parses.
 *
 * @param {Buffer} body
 * @param {string} signature
 * @param {string} at
 */
function registerReceiver(body, signature, at) {
  const receiver = createReceiver({ signingKey, maxEventAgeMs: Number.POSITIVE_INFINITY });
  const headers = { 'x-service-signature': signature };
  bench(`posthorn receiver.verify (parses and checks too)${at}`, async () =>
    keep(await receiver.verify(body, headers)),
  );
}
