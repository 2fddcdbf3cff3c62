import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { listenUntilTheEnd } from '../support/listen.ts';

/** What drives a terminal, or forges a line: ESC, BEL, CR, CSI of one byte, bidi, zero width, line ends. */
export const NASTY = 'a\u001b]0;t\u0007\u001b[2J\rb\u009b1m\u202e\u2066\u200b\u2028c\u007fd\n\tFORGED';

const webhook = {
  id: NASTY,
  created_at: NASTY,
  updated_at: NASTY,
  url: NASTY,
  enabled: true,
  authentication: { type: 'BASIC', basic: { username: NASTY, password: NASTY } },
  enabled_events: [{ entity: NASTY, types: [NASTY, NASTY] }],
  secret_signing_key: NASTY,
  _links: { self: { href: NASTY } },
  [NASTY]: NASTY,
};
const TIME = '03/31/2026 09:05:30';
const ISO_TIME = '2026-03-31T09:05:30Z';
const actor = { userType: NASTY, userName: NASTY };
const quote = {
  ...{ resourceName: 'fxQuote', url: NASTY, id: 5001, fxRate: '0.92', fee: '0.00', status: NASTY },
  destination: { amount: '1.00', currency: 'EUR' },
  source: { amount: '1.09', currency: 'USD' },
  ...{ fxQuoteExpiry: TIME, createdOn: TIME, lastUpdatedOn: TIME },
  ...{ createdBy: actor, lastUpdatedBy: actor },
};
const checks = {
  ...{ errorCode: 0, errorMessage: '', bankName: NASTY, bankAlias: NASTY, accountLast4: NASTY },
  checkInfo: [
    {
      ...{ BatchID: NASTY, BundleID: NASTY, CheckTransID: NASTY, MerchantTransID: NASTY, CheckNumber: NASTY },
      ...{ Amount: NASTY, FirstName: NASTY, LastName: NASTY, SentStatus: NASTY, ProcessingStatus: NASTY },
      ...{ TrackingNumber: NASTY, custom: NASTY },
    },
  ],
};
const purposes = {
  success: true,
  documentTypes: [{ id: 3, category: NASTY, title: NASTY, createdAt: ISO_TIME, updatedAt: ISO_TIME }],
};
const currencies = {
  success: true,
  data: [{ id: 1, currencyName: NASTY, countryName: NASTY }],
  metadata: { total: 1, currentPage: 1, pageSize: 50 },
};
/** Date.parse passes over what stands in brackets: such a time is one to it, and drives a terminal. */
export const NASTY_TIME = `Mar 31 2036 09:00 (${NASTY.replaceAll(/[()]/g, '')})`;
const attempt = {
  ...{ event: NASTY, webhook: NASTY, number: 1, duplicate: false, at: NASTY_TIME, status: 500, error: NASTY },
  request: { url: NASTY, headers: { [NASTY]: NASTY }, body: JSON.stringify({ type: NASTY }) },
  response: { headers: { [NASTY]: NASTY }, body: JSON.stringify({ outcome: NASTY, code: NASTY }) },
  durationMs: 5,
};

async function answerTo(request: IncomingMessage): Promise<object> {
  const { method, url = '' } = request;
  const body = await text(request);
  if (url === '/receiver') return { outcome: NASTY, code: NASTY };
  if (url.startsWith('/sandbox/events')) return { id: NASTY, type: NASTY, created_at: `A${NASTY}` };
  if (url.startsWith('/sandbox/clock')) return { now: '2026-03-31T09:00:00Z' };
  if (url.startsWith('/sandbox/deliveries')) return [attempt];
  if (url.includes('/fxQuote')) return quote;
  if (url.includes('/echecks/')) return checks;
  if (url.endsWith('/purpose')) return purposes;
  if (url.endsWith('/currencies')) return currencies;
  if (method === 'PUT') return { ...webhook, ...JSON.parse(body), authentication: webhook.authentication };
  if (method === 'POST' || !url.includes('?')) return webhook;
  return { _embedded: { webhooks: [webhook] }, page: { limit: 100, offset: 0, count: 1 } };
}

function listen(answer: (request: IncomingMessage) => object | Promise<object>, status: number) {
  return listenUntilTheEnd(async (request, response) => {
    const body = JSON.stringify(await answer(request));
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
}

/** A service, a sandbox and a receiver in one, whose every text is {@link NASTY}. Gives its address. */
export function openHostile(): Promise<string> {
  return listen(answerTo, 200);
}

/** One that refuses everything, with texts of the same kind. */
export function openRefusing(): Promise<string> {
  return listen(() => ({ status: 400, message: NASTY, details: NASTY }), 400);
}

/** A server of another protocol, which answers each thing that it is sent. Resolves with its port. */
export async function openSaying(answer: (sent: Uint8Array) => Uint8Array): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (sent) => socket.write(answer(sent)));
  });
  return Number(new URL(await listenUntilTheEnd(server)).port);
}

/** An error of Redis for each of the commands that it was sent. */
export function redisErrors(sent: Uint8Array): Uint8Array {
  const commands = Buffer.from(sent).toString().match(/^\*/gm) ?? [];
  const error = `-ERR ${NASTY.replaceAll(/[\r\n]/g, '')}\r\n`;
  return Buffer.from(error.repeat(commands.length));
}

/** A FATAL error of PostgreSQL, in its protocol. */
export function postgresError(): Uint8Array {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C28000\0M${NASTY}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}
