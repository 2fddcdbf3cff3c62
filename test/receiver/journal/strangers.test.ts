import { ConfigurationError, createReceiver, type Delivery, type ReportCode } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import type { EndpointOptions } from '../../support/open-endpoint.ts';
import { KEY } from '../../support/served.ts';
import { throwing } from '../../support/throwing.ts';
import { chat, chatHeaders, toDelivery } from '../provider/senders.ts';
import { createSeenJournal, openJournaledDirectly } from './journaled.ts';

const event = createEvent('transfer.succeeded');
const genuine = deliveryOf(event);

const CREDENTIALS = { type: 'BASIC', basic: { username: 'service', password: 's3cret' } } as const;

function changed(headers: Delivery['headers'], members: Partial<Delivery> = {}): Delivery {
  return { ...genuine, headers: { ...genuine.headers, ...headers }, ...members };
}

interface Stranger {
  readonly title: string;
  readonly code: ReportCode;
  readonly delivery: Delivery;
  readonly options?: EndpointOptions;
}

const noAccount: EndpointOptions = { account: () => undefined };
const noKey: EndpointOptions = { account: () => 'north', signingKey: () => undefined };

const strangers: readonly Stranger[] = [
  {
    title: 'a signature of another key',
    code: 'signature_mismatch',
    delivery: changed({ 'x-service-signature': ['0'.repeat(64)] }),
  },
  {
    title: 'a malformed signature',
    code: 'signature_malformed',
    delivery: changed({ 'x-service-signature': ['nonsense'] }),
  },
  {
    title: 'two signatures',
    code: 'signature_repeated',
    delivery: changed({ 'x-service-signature': ['0'.repeat(64), '1'.repeat(64)] }),
  },
  { title: 'no signature', code: 'signature_missing', delivery: { ...genuine, headers: {} } },
  {
    title: 'another body',
    code: 'signature_mismatch',
    delivery: changed({}, { readBody: async () => 'not JSON' }),
  },
  {
    title: 'no credentials',
    code: 'credentials_invalid',
    delivery: genuine,
    options: { authentication: CREDENTIALS },
  },
  {
    title: 'wrong credentials',
    code: 'credentials_invalid',
    delivery: changed({ authorization: ['Basic eDp5'] }),
    options: { authentication: CREDENTIALS },
  },
  { title: 'no account', code: 'account_unknown', delivery: genuine, options: noAccount },
  { title: 'an account without a key', code: 'account_unknown', delivery: genuine, options: noKey },
  {
    title: 'keys that cannot be fetched',
    code: 'keys_unavailable',
    delivery: genuine,
    options: { signingKey: throwing('no vault') },
  },
  { title: 'another method', code: 'method_not_allowed', delivery: changed({}, { method: 'GET' }) },
  {
    title: 'a compressed body',
    code: 'encoding_unsupported',
    delivery: changed({ 'content-encoding': ['gzip'] }),
  },
  { title: 'a large body', code: 'body_too_large', delivery: genuine, options: { maxBodyBytes: 10 } },
  {
    title: 'a body that is not read',
    code: 'body_already_parsed',
    delivery: changed(
      {},
      { readBody: throwing(new ConfigurationError('read', { code: 'body_already_parsed' })) },
    ),
  },
];

test.each(strangers)('a request with $title leaves no entry', async ({ code, delivery, options }) => {
  const { entries, receiver, reports } = openJournaledDirectly(options);
  await receiver.receive(delivery);
  expect(reports.all).toMatchObject([{ code }]);
  expect(await entries()).toEqual([]);
});

test('a delivery for a path that is not served leaves no entry', async () => {
  const { entries, receiver, reports } = openJournaledDirectly();
  receiver.reportMisdirected(genuine.headers, { requested: '/other', served: '/webhooks' });
  expect(reports.all).toMatchObject([{ code: 'not_found' }]);
  expect(await entries()).toEqual([]);
});

test.each([
  ['is answered', 'handshake', chat()],
  ['is not answered because of a bug', 'failed', chat(() => 42)],
] as const)('a question of the sender that %s leaves no entry', async (_title, outcome, provider) => {
  const { batches, journal } = createSeenJournal();
  const outcomes: string[] = [];
  const receiver = createReceiver({ provider, signingKey: KEY, journal })
    .on('*', () => {})
    .observe((report) => void outcomes.push(report.outcome));
  const question = '{"type":"question","challenge":"3eZbrw1aB"}';
  await receiver.receive(toDelivery(question, chatHeaders(question)));
  await receiver.close();
  expect([outcomes, batches.all]).toEqual([[outcome], []]);
});
