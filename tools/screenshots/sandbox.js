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
  const { baseUrl, park, close } = await play();
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
  await takeParkedPicture(browser, baseUrl, await park());
  await close();
}

/** Of one event: it fails, comes again, and is parked. The README begins with it. */
async function takeParkedPicture(browser, baseUrl, id) {
  const page = await browser.newPage({ colorScheme: 'light', viewport: { width: 1_200, height: 600 } });
  await page.goto(baseUrl);
  const event = page.locator('#events > li', { hasText: id }).filter({ hasText: 'parked as a dead letter' });
  await event.getByText('attempt 4').waitFor();
  const box = await event.boundingBox();
  const clip = { x: box.x - 16, y: box.y - 8, width: box.width + 32, height: box.height };
  await page.screenshot({ path: pathOf('sandbox-parked'), clip });
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
    .on(['transfer.failed', 'dispute.updated'], () => {
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
    /** Makes all retries happen of an event that always fails; resolves with its id. */
    park: async () => {
      const { id } = sandbox.send({ type: 'dispute.updated' });
      await sandbox.clock.advance(21 * 60_000);
      await sandbox.settled();
      return id;
    },
    close: async () => {
      await sandbox.close();
      server.close();
    },
  };
}
