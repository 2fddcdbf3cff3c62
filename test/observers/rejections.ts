import { once } from 'node:events';
import { defineProvider, hmacSignature, type ReportCode } from 'posthorn';
import { createService, serviceParts } from '../../src/providers/banking-service/service.ts';
import { post } from '../support/served.ts';
import { MINUTE_MS } from '../support/step-clock.ts';
import { throwing } from '../support/throwing.ts';
import { OTHER_KEY, payload, VAULT_TOKEN } from './secrets.ts';
import { authorized, json, type Situation, secretEvent, sendPart, unsigned } from './situation.ts';

/** Its signatures have a time that is long past. */
const timed = defineProvider({
  ...createService(serviceParts),
  name: 'timed',
  signature: hmacSignature({
    encoding: 'hex',
    read: (headers) => ({ signatures: [headers.get('x-service-signature') ?? ''], time: '1' }),
  }),
});

type Rejection = Situation & { readonly name: ReportCode };

/** How each code of what is refused as no event of the service comes about. */
export const rejections: readonly Rejection[] = [
  { name: 'not_found', expected: { status: 404 }, run: ({ url }) => post(`${url}/x`, json, unsigned) },
  {
    name: 'account_unknown',
    options: () => ({ account: throwing(VAULT_TOKEN) }),
    expected: { status: 404 },
    run: ({ send }) => send(json),
  },
  {
    name: 'method_not_allowed',
    expected: { status: 405 },
    run: ({ url }) => fetch(url, { headers: unsigned }),
  },
  {
    name: 'credentials_invalid',
    expected: { status: 401 },
    run: async ({ url }) => {
      for (const authorization of [`Bearer ${VAULT_TOKEN}`, `Basic ${btoa(`billing:${VAULT_TOKEN}`)}`])
        await post(url, json, { ...unsigned, authorization });
    },
  },
  {
    name: 'signature_missing',
    expected: { status: 403 },
    run: ({ send }) => send(json, { signatureHeader: 'x-other-signature' }),
  },
  {
    name: 'signature_repeated',
    expected: { status: 403 },
    run: ({ url }) =>
      post(url, json, { ...authorized, 'x-service-signature': ['0'.repeat(64), '1'.repeat(64)] }),
  },
  {
    name: 'signature_malformed',
    expected: { status: 403 },
    run: ({ url }) => post(url, json, { ...authorized, 'x-service-signature': `sha256=${'a1'.repeat(32)}` }),
  },
  {
    name: 'signature_mismatch',
    expected: { status: 403 },
    run: ({ send }) => send(json, { key: OTHER_KEY }),
  },
  {
    name: 'signature_expired',
    expected: { status: 403 },
    options: () => ({ provider: timed }),
    run: ({ send }) => send(json),
  },
  {
    name: 'encoding_unsupported',
    expected: { status: 415 },
    run: ({ send }) => send(json, { headers: { 'content-encoding': 'gzip' } }),
  },
  {
    name: 'body_too_large',
    expected: { status: 413 },
    options: () => ({ maxBodyBytes: 10 }),
    run: ({ send }) => send(json),
  },
  {
    name: 'body_timeout',
    expected: { status: 408 },
    options: () => ({ bodyTimeoutMs: 5 }),
    run: async ({ url }) => once(await sendPart(url, 50, 60), 'response'),
  },
  {
    name: 'body_incomplete',
    expected: { status: 400 },
    run: async ({ url }) => (await sendPart(url, 50, 60)).destroy(),
  },
  {
    name: 'body_not_json',
    expected: { status: 400 },
    run: ({ send }) => send(`{"iban":"${payload.iban}" ${payload.card}`),
  },
  {
    name: 'envelope_invalid',
    expected: { status: 400 },
    run: ({ send }) =>
      send({ id: payload.amount, type: payload.iban, created_at: payload.name, data: payload.card }),
  },
  {
    name: 'event_too_old',
    expected: { status: 400, endpointAtRisk: true },
    run: ({ send }) => send(secretEvent(1_500 * MINUTE_MS)),
  },
  {
    name: 'event_in_future',
    expected: { status: 400 },
    run: ({ send }) => send(secretEvent(-10 * MINUTE_MS)),
  },
];
