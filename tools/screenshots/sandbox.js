import { once } from 'node:events';
import { createServer } from 'node:http';
import { createReceiver, PermanentError } from 'posthorn';
import { createClient } from 'posthorn/client';
import { toNode } from 'posthorn/node';
import { createSandbox, defaultCredentials } from 'posthorn/sandbox';
import { pathOf } from './path-of.js';

const pictures = [
  // All parts beside each other, and below each other one event with its request.
  { name: 'sandbox-light', colorScheme: 'light', width: 1_600, height: 560, from: 'main', isOpen: false },
  {
    name: 'sandbox-dark',
    colorScheme: 'dark',
    width: 400,
    height: 1_300,
    from: '#events-title',
    isOpen: true,
  },
];

/**
 * Takes the pictures of the sandbox's page.
 *
 * @param {import('playwright-core').Browser} browser
 */
export async function takeSandboxPictures(browser) {
  const { baseUrl, close } = await play();
  for (const { name, colorScheme, width, height, from, isOpen } of pictures) {
    const page = await browser.newPage({ colorScheme, viewport: { width, height } });
    await page.goto(baseUrl);
    await page.getByText('failed, a retry is to come').waitFor();
    if (isOpen) {
      await page.locator('summary').first().click();
      await page.getByText('Request', { exact: true }).waitFor();
    }
    await page.locator(from).evaluate((element) => scrollTo(0, element.offsetTop - 80));
    await page.screenshot({ path: pathOf(name) });
  }
  await close();
}

/** A sandbox in which something of everything has happened. */
async function play() {
  const sandbox = createSandbox({
    clock: 'manual',
    startAt: Date.parse('2026-03-01T12:00:00Z'),
    signingKey: 'screenshots',
  });
  const { url: baseUrl } = await sandbox.listen();
  const { administrator, banking } = defaultCredentials;
  const client = createClient({ baseUrl, administrator, banking });

  /** Parks without keeping anything: the pictures show only the answer. */
  const deadLetters = {
    put: async () => {},
    get: async () => undefined,
    remove: async () => true,
    async *list() {},
  };
  const receiver = createReceiver({ signingKey: 'screenshots', now: sandbox.clock.now, deadLetters });
  receiver.observe(() => {});
  receiver
    .on('settlement.approved', (_event, { attempt }) => {
      if (attempt === 1) throw new Error('the ledger is locked');
    })
    .on('dispute.created', () => {
      throw new PermanentError('no such merchant');
    })
    .on('transfer.failed', () => {
      throw new Error('the ledger is locked');
    })
    .on('transfer.succeeded', () => {});
  const server = createServer(toNode(receiver, { path: '/webhooks' })).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await client.webhooks.create({ url: `http://127.0.0.1:${server.address().port}/webhooks` });

  /** Makes an event happen, and waits for its answers. */
  const send = async (request) => {
    sandbox.send(request);
    await sandbox.settled();
  };
  await send({ type: 'transfer.succeeded', duplicates: 1 });
  await send({ type: 'transfer.succeeded', changed: true });
  await send({ type: 'settlement.approved' });
  await sandbox.clock.advance(60_000);
  await send({ type: 'merchant.updated' });
  await send({ type: 'dispute.created' });
  await send({ type: 'transfer.failed' });
  await client.fxQuotes.create({ destination: { currency: 'EUR' }, source: { amount: '100.00' } });
  await sandbox.clock.advance(12_000);
  return {
    baseUrl,
    close: async () => {
      await sandbox.close();
      server.close();
    },
  };
}
