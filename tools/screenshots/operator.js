import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createReceiver, PermanentError } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { toNodeOperator } from 'posthorn/operator';
import { createEvent, deliver } from 'posthorn/testing';
import { pathOf } from './path-of.js';

const pictures = [
  { name: 'operator-light', colorScheme: 'light', width: 1_200, height: 590, isOpen: false },
  { name: 'operator-dark', colorScheme: 'dark', width: 400, height: 1_330, isOpen: true },
];

/**
 * Takes the pictures of the operators' page.
 *
 * @param {import('playwright-core').Browser} browser
 */
export async function takeOperatorPictures(browser) {
  const { close, url } = await serve(await fail());
  for (const { name, colorScheme, width, height, isOpen } of pictures) {
    const page = await browser.newPage({
      colorScheme,
      viewport: { width, height },
      timezoneId: 'Europe/Zurich',
    });
    await page.goto(url);
    await page.getByText('waiting to be replayed').waitFor();
    if (isOpen) {
      await page.getByRole('link', { name: 'dispute.created' }).first().click();
      await page.getByText('"data"').click();
      await page.getByText('"amount"').waitFor();
    }
    await page.screenshot({ path: pathOf(name) });
  }
  close();
}

/** A receiver whose handlers have failed. */
async function fail() {
  const clock = { time: Date.parse('2026-03-01T02:12:40Z') };
  const directory = mkdtempSync(join(tmpdir(), 'posthorn-screenshots-'));
  process.once('exit', () => rmSync(directory, { recursive: true }));
  const key = 'screenshots';
  const deadLetters = createFileDeadLetters(directory);
  const receiver = createReceiver({ signingKey: key, now: () => clock.time, deadLetters })
    .observe(() => {})
    .on('dispute.created', () => {}, { name: 'notify' })
    .on('dispute.created', () => throwPermanently('no such merchant: M-1042'), { name: 'openCase' })
    .on('transfer.succeeded', () => throwPermanently('the ledger has no account 20-1'), { name: 'book' });
  const types = ['dispute.created', 'transfer.succeeded', 'transfer.succeeded', 'dispute.created'];
  for (const [index, type] of types.entries()) {
    clock.time += 47_000 * (index + 1);
    const event = createEvent(type);
    await deliver(
      receiver,
      { ...event, id: `evt_7f3a9c${index}`, created_at: new Date(clock.time) },
      { key },
    );
  }
  return receiver;
}

function throwPermanently(message) {
  throw new PermanentError(message);
}

/** Serves the page to an operator who sees bodies. */
async function serve(receiver) {
  const authorize = () => ({ name: 'anna@example.com', bodies: true });
  const server = createServer(toNodeOperator(receiver, { path: '/operator', authorize }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${server.address().port}/operator/`, close: () => server.close() };
}
