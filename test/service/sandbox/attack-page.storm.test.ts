import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { createSandbox, type Sandbox } from 'posthorn/sandbox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageRoot } from '../../support/child-program.ts';
import { freePort } from '../../support/free-port.ts';
import { WAIT_LIMIT_MS } from '../../support/limits.ts';
import { stopServer } from '../../support/listen.ts';
import { Seen } from '../../support/seen.ts';
import { CHROMIUM } from './chromium.ts';
import {
  ADMINISTRATOR,
  BANKING,
  createWebhook,
  type OpenedSandbox,
  openedAt,
  type ShownWebhook,
  START_AT,
} from './opened-sandbox.ts';

const html = readFileSync(join(packageRoot, 'test', 'service', 'sandbox', 'attack-page.html'));
const servePage: RequestListener = (_request, response) =>
  void response.writeHead(200, { 'content-type': 'text/html' }).end(html);

interface Served {
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** Serves until it is closed. */
async function serve(listener: RequestListener, port = 0): Promise<Served> {
  const server = createServer({ keepAliveTimeout: 0 }, listener).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => stopServer(server) };
}

/** A new browser, for which the name of the attacker's server leads to this machine. */
async function launch(directory: string): Promise<BrowserContext> {
  const context = await chromium.launchPersistentContext(directory, {
    ...CHROMIUM,
    timeout: WAIT_LIMIT_MS,
    args: [...CHROMIUM.args, '--host-resolver-rules=MAP evil.example 127.0.0.1'],
  });
  context.setDefaultTimeout(WAIT_LIMIT_MS);
  return context;
}

/** What the sandbox was asked, and its answer. */
interface Exchange {
  readonly request: string;
  readonly status: number;
}

const directory = mkdtempSync(join(tmpdir(), 'posthorn-browser-'));
const exchanges = new Seen<Exchange>();
const closing: (() => Promise<void>)[] = [];
let sandbox: Sandbox;
let opened: OpenedSandbox;
let quoteId: number;
let webhook: ShownWebhook;
let foreignPage: Page;
let reboundPage: Page;

beforeAll(async () => {
  const browser = await launch(directory);
  closing.push(() => browser.close());
  const foreign = await serve(servePage);
  closing.push(foreign.close);
  foreignPage = await browser.newPage();
  await foreignPage.goto(`http://evil.example:${foreign.port}/`);

  // DNS rebinding: the name and the port that the page came from lead to the sandbox from now on.
  const before = await serve(servePage, await freePort());
  reboundPage = await browser.newPage();
  await reboundPage.goto(`http://evil.example:${before.port}/`);
  await before.close();

  sandbox = createSandbox({ clock: 'manual', startAt: START_AT });
  closing.push(() => sandbox.close());
  const served = await serve((request, response) => {
    response.on('finish', () =>
      exchanges.add({ request: `${request.method} ${request.url}`, status: response.statusCode }),
    );
    sandbox.app(request, response);
  }, before.port);
  closing.push(served.close);
  const url = `http://127.0.0.1:${served.port}`;
  opened = openedAt(sandbox, url);
  await prepare();
});

afterAll(async () => {
  for (const close of closing.reverse()) await close();
  rmSync(directory, { recursive: true, force: true });
});

/** A webhook with credentials, a delivery whose answer is nobody else's business, and a quote. */
async function prepare(): Promise<void> {
  const endpoint = await serve((_request, response) => void response.end('answer of the endpoint'));
  closing.push(endpoint.close);
  webhook = await createWebhook(
    opened,
    `{"url":"http://127.0.0.1:${endpoint.port}/",` +
      '"authentication":{"type":"BEARER","bearer":{"token":"token-of-the-webhook"}}}',
  );
  sandbox.send({ type: 'transfer.succeeded' });
  await sandbox.settled();
  const amount = '{"destination":{"currency":"EUR","amount":"100.00"}}';
  const { body } = await opened.call('POST', '/banking/us2/v1/transaction/fxQuote', BANKING, amount);
  quoteId = (body as { id: number }).id;
}

/** Everything that a page could have changed. */
async function stateOfSandbox(): Promise<object> {
  await sandbox.settled();
  const webhooks = await opened.call('GET', '/payments/na/webhooks', ADMINISTRATOR);
  const quote = await opened.call('GET', `/banking/us2/v1/transaction/fxQuote/id/${quoteId}`, BANKING);
  return {
    now: sandbox.clock.now(),
    webhooks: webhooks.body,
    quote: quote.body,
    deliveries: [...sandbox.deliveries()],
  };
}

/** Has a page attack; gives what it got to see, and what the sandbox answered meanwhile. */
async function attackFrom(
  page: Page,
  target: string,
): Promise<{ readonly seen: Record<string, string>; readonly answered: readonly Exchange[] }> {
  const from = exchanges.all.length;
  const seen: Record<string, string> = await page.evaluate(
    `attack(${JSON.stringify(target)}, ${quoteId}, '${webhook.id}')`,
  );
  return { seen, answered: exchanges.all.slice(from) };
}

/** The requests of the attacks, each once, as they come from a page of another origin. */
function attempted(): string[] {
  const accept = `/sandbox/fxQuotes/${quoteId}/accept`;
  const key = `/sandbox/webhooks/${webhook.id}/key`;
  return [
    'GET /sandbox/deliveries',
    'OPTIONS /payments/na/webhooks',
    'POST /payments/na/webhooks',
    'OPTIONS /sandbox/clock',
    'POST /sandbox/clock',
    'OPTIONS /sandbox/events',
    `OPTIONS ${accept}`,
    `POST ${accept}`,
    `OPTIONS ${key}`,
    `POST ${key}`,
    'POST /sandbox/clear',
  ].sort();
}

const secrets =
  /secret_signing_key|answer of the endpoint|token-of-the-webhook|sandbox-admin|GENERATED|ACCEPTED|2026-03-01/;

describe('a web page of another origin', () => {
  test.each(['127.0.0.1', 'localhost'])('changes and sees nothing of a sandbox at %s', async (host) => {
    const before = await stateOfSandbox();
    const { port } = new URL(opened.url);
    const { seen, answered } = await attackFrom(foreignPage, `http://${host}:${port}`);
    expect(await stateOfSandbox()).toEqual(before);
    expect(JSON.stringify(seen)).not.toMatch(secrets);
    expect(seen).toMatchObject({
      'read the deliveries': 'TypeError: Failed to fetch',
      'read the deliveries, no-cors': 'opaque 0 ',
      'create a webhook': 'TypeError: Failed to fetch',
      'accept the quote, no-cors': 'opaque 0 ',
      'read the signing key': 'TypeError: Failed to fetch',
      'read the signing key, no-cors': 'opaque 0 ',
      'show the deliveries as an image': 'error',
      'run the deliveries as a script': 'error',
      'stream the deliveries': 'error',
    });
    // Each attempt has reached the sandbox, some only to ask beforehand (OPTIONS). A browser may ask again.
    expect(answered.length).toBeGreaterThanOrEqual(Object.keys(seen).length);
    expect([...new Set(answered.map(({ request }) => request))].sort()).toEqual(attempted());
    expect(new Set(answered.map(({ status }) => status))).toEqual(new Set([403]));
  });
});

test('a page whose name leads to the sandbox from now on changes and sees nothing of it', async () => {
  const before = await stateOfSandbox();
  const { port } = new URL(opened.url);
  const { seen, answered } = await attackFrom(reboundPage, `http://evil.example:${port}`);
  expect(await stateOfSandbox()).toEqual(before);
  expect(JSON.stringify(seen)).not.toMatch(secrets);
  expect(seen['read the deliveries']).toMatch(/^basic 421 .*Misdirected request/);
  expect(seen['create a webhook']).toMatch(/^basic 421 /);
  expect(seen['read the signing key']).toMatch(/^basic 421 /);
  // More than once: Chromium repeats over a new connection what was answered 421.
  expect(answered.length).toBeGreaterThanOrEqual(Object.keys(seen).length);
  expect(new Set(answered.map(({ status }) => status))).toEqual(new Set([421]));
});

test('the developer may look at the deliveries in the same browser', async () => {
  const response = await foreignPage.goto(`${opened.url}/sandbox/deliveries`);
  expect(response?.status()).toBe(200);
  expect(await response?.json()).toMatchObject([{ response: { body: 'answer of the endpoint' } }]);
});
