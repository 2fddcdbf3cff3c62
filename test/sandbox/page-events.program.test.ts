import type { RequestListener } from 'node:http';
import type { Locator, Page } from 'playwright-core';
import { createReceiver, PermanentError } from 'posthorn';
import { toNode } from 'posthorn/node';
import { describe, expect, test } from 'vitest';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { type AnswerName, answerInTurn } from './answering-endpoint.ts';
import { openPage, receive, serve } from './opened-page.ts';
import { createWebhook, type OpenedSandbox, openSandbox } from './opened-sandbox.ts';

/** The items of the list that are not hidden. */
const events = (page: Page): Locator => page.locator('#events > li:visible');

/** A sandbox whose only webhook gives these answers. */
async function openAnswering(...names: readonly AnswerName[]): Promise<OpenedSandbox> {
  const opened = await openSandbox();
  await createWebhook(opened, `{"url":"${await serve(answerInTurn(...names))}"}`);
  return opened;
}

/** The backgrounds of the badges that a selector finds. */
const coloursOf = (page: Page, selector: string): Promise<string[]> =>
  page.evaluate(
    `[...document.querySelectorAll('${selector}')].map((badge) => getComputedStyle(badge).backgroundColor)`,
  );

const focusedText = (page: Page): Promise<string> => page.evaluate('document.activeElement.textContent');

describe('an outcome', () => {
  test.each([
    { name: 'parked', line: 'attempt 1: 200 parked', state: 'parked as a dead letter' },
    { name: 'ignored', line: 'attempt 1: 200 ignored', state: 'ignored: no handler of its type' },
    { name: 'queued', line: 'attempt 1: 202 queued', state: 'queued for a worker' },
    { name: 'processed', line: 'attempt 1: 200 processed', state: 'delivered' },
  ] as const)('of $name is the badge of the answer, and of the event', async ({ name, line, state }) => {
    const opened = await openAnswering(name);
    const { page } = await openPage(opened.url);
    opened.sandbox.send({ type: 'transfer.succeeded' });
    await page.getByText(line, { exact: true }).waitFor();
    const badge = page.locator('#events ol .badge');
    const ofEvent = page.locator('#events .badge').first();
    expect(await badge.textContent()).toBe(name);
    expect(await ofEvent.textContent()).toBe(state);
    const [shown, shownOfAnswer] = await coloursOf(page, '#events .badge');
    expect(shown).toMatch(/^rgb/);
    expect(shown).toBe(shownOfAnswer);
  });

  test('has a colour of its group, and only the handled ones that of success', async () => {
    const names = ['processed', 'parked', 'ignored', 'queued', 'busy', 'rejected', 'failed'] as const;
    const opened = await openAnswering(...names);
    const { page } = await openPage(opened.url);
    for (const name of names) {
      opened.sandbox.send({ type: 'transfer.succeeded', id: name });
      await opened.sandbox.settled();
    }
    await expect.poll(() => page.locator('#events ol .badge').count()).toBe(names.length);
    expect(new Set(await coloursOf(page, '#events ol .badge')).size).toBe(names.length);
  });

  test('of a real receiver is parked after a PermanentError, and ignored without a handler', async () => {
    const opened = await openSandbox();
    const listeners: RequestListener[] = [];
    const url = await serve((request, response) => listeners[0]?.(request, response));
    const { secret_signing_key } = await createWebhook(opened, `{"url":"${url}"}`);
    const receiver = createReceiver({
      signingKey: secret_signing_key,
      deadLetters: createMapDeadLetters(),
      now: opened.sandbox.clock.now,
    });
    receiver.observe(() => {});
    receiver.on('dispute.lost', () => {
      throw new PermanentError('no such merchant');
    });
    listeners.push(toNode(receiver));
    const { page } = await openPage(opened.url);
    opened.sandbox.send({ type: 'dispute.lost' });
    await page.getByText('parked as a dead letter').waitFor();
    opened.sandbox.send({ type: 'dispute.won' });
    await page.getByText('ignored: no handler of its type').waitFor();
  });

  test('is not made out of the answer of another server: its status is the badge', async () => {
    const opened = await openSandbox();
    const bodies = ['{"outcome":"fine"}', '{"code":"handler_failed"}', 'parked'];
    let count = 0;
    const url = await serve((_request, response) => {
      response.writeHead(count === 1 ? 418 : 200, { 'content-type': 'application/json' });
      response.end(bodies[count]);
      count += 1;
    });
    await createWebhook(opened, `{"url":"${url}"}`);
    const { page } = await openPage(opened.url);
    for (const line of ['attempt 1: 200', 'attempt 1: 418']) {
      opened.sandbox.send({ type: 'transfer.created' });
      await page.getByText(line, { exact: true }).first().waitFor();
    }
    opened.sandbox.send({ type: 'transfer.created' });
    await expect.poll(() => page.getByText('attempt 1: 200', { exact: true }).count()).toBe(2);
  });
});

describe('an event', () => {
  test('is sent again with the same id and body, which the receiver answers as a duplicate', async () => {
    const opened = await openSandbox();
    const { handled } = await receive(opened);
    const { page, faults } = await openPage(opened.url);
    const { id } = opened.sandbox.send({ type: 'settlement.approved' });
    await page.getByText('attempt 1: 200 processed', { exact: true }).waitFor();
    const resend = page.getByRole('button', { name: `Resend settlement.approved ${id}` });
    await resend.focus();
    await page.keyboard.press('Enter');
    await page.getByText('duplicate: 200 duplicate', { exact: true }).waitFor();
    expect(await focusedText(page)).toBe('Resend');
    const [first, second] = opened.sandbox.deliveries();
    expect(second?.request.body).toBe(first?.request.body);
    expect(handled).toEqual([id]);
    expect(await events(page).count()).toBe(1);
    expect(faults).toEqual([]);
  });

  test('that was given up is delivered when a resend succeeds; without a webhook it says why not', async () => {
    const opened = await openSandbox();
    await receive(opened, 4);
    const { page } = await openPage(opened.url);
    opened.sandbox.send({ type: 'dispute.lost' });
    await opened.sandbox.settled();
    await opened.sandbox.clock.advance(21 * 60_000);
    await page.getByText('given up: no retry is to come').waitFor();
    await page.getByRole('button', { name: /^Resend/ }).click();
    await page.locator('#events').getByText('No enabled webhook wants the event').waitFor();
    await page.getByRole('button', { name: /^Enable again/ }).click();
    await page.getByText('enabled', { exact: true }).waitFor();
    await page.getByRole('button', { name: /^Resend/ }).click();
    await page.getByText('delivered', { exact: true }).waitFor();
  });

  test('is edited and sent: its type and data go into the form, and it gets a new id', async () => {
    const opened = await openSandbox();
    const { page } = await openPage(opened.url);
    const long = 'x'.repeat(20_000);
    // No webhook wants it, and its data is longer than what the page shows.
    const { id } = opened.sandbox.send({ type: 'loan.created', data: { id: 'L1', amount: '10.00', long } });
    await page.getByRole('button', { name: /^Edit and send/ }).click();
    const data = page.getByLabel('Data');
    await expect.poll(() => data.inputValue()).toContain('"amount": "10.00"');
    expect(await page.getByLabel('Type', { exact: true }).inputValue()).toBe('loan.created');
    expect(await page.evaluate('document.activeElement.id')).toBe('data');
    await data.fill((await data.inputValue()).replace('10.00', '12.00'));
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await expect.poll(() => events(page).count()).toBe(2);
    const sent = await page.locator('#send-result').textContent();
    expect(sent).toMatch(/^sent evt_/);
    expect(sent).not.toContain(id);
    const { body } = await opened.call('GET', `/sandbox/events/${sent?.slice('sent '.length)}`);
    expect(body).toMatchObject({ type: 'loan.created', data: { id: 'L1', amount: '12.00', long } });
  });
});

describe('the list', () => {
  test('is filtered by type and by outcome, also while events come in', async () => {
    const opened = await openAnswering('parked', 'processed', 'failed', 'processed');
    const { page, faults } = await openPage(opened.url);
    for (const type of ['transfer.failed', 'transfer.created', 'dispute.lost']) {
      opened.sandbox.send({ type });
      await opened.sandbox.settled();
    }
    await expect.poll(() => events(page).count()).toBe(3);
    await page.getByLabel('By outcome').selectOption('parked');
    expect(await events(page).count()).toBe(1);
    expect(await page.locator('#matches').textContent()).toBe('1 of 3 events');
    await page.getByLabel('By outcome').selectOption('processed');
    opened.sandbox.send({ type: 'dispute.won' });
    await page.locator('#matches', { hasText: '2 of 4 events' }).waitFor();
    await page.getByLabel('By type').selectOption('dispute.won');
    await page.locator('#matches', { hasText: '1 of 4 events' }).waitFor();
    await page.getByLabel('By outcome').selectOption('');
    await page.getByLabel('By type').selectOption('');
    expect(await events(page).count()).toBe(4);
    expect(await page.locator('#matches').textContent()).toBe('');
    expect(faults).toEqual([]);
  });

  test('keeps the order in which events happened after a reload, however old they are', async () => {
    const opened = await openAnswering('processed');
    const { page } = await openPage(opened.url);
    opened.sandbox.send({ type: 'transfer.succeeded', id: 'evt_new' });
    opened.sandbox.send({ type: 'transfer.succeeded', id: 'evt_old', ageMs: 840_000 });
    await opened.sandbox.settled();
    const ids = (): Promise<string[]> => page.locator('#events .id').allTextContents();
    await expect.poll(ids).toEqual(['evt_old', 'evt_new']);
    await page.reload();
    await expect.poll(ids).toEqual(['evt_old', 'evt_new']);
  });

  test('is cleared on every page and after a reload; an event with a retry to come stays', async () => {
    const opened = await openAnswering('processed', 'failed');
    const first = await openPage(opened.url);
    const second = await openPage(opened.url);
    opened.sandbox.send({ type: 'transfer.succeeded' });
    await opened.sandbox.settled();
    opened.sandbox.send({ type: 'dispute.lost' });
    await opened.sandbox.settled();
    for (const { page } of [first, second]) await expect.poll(() => events(page).count()).toBe(2);
    await first.page.getByRole('button', { name: 'Clear' }).click();
    for (const { page } of [first, second]) {
      await expect.poll(() => events(page).count()).toBe(1);
      await page.getByText('failed, a retry is to come').waitFor();
      await page.getByText('attempt 1: 500 handler_failed', { exact: true }).waitFor();
    }
    expect(await focusedText(first.page)).toBe('Clear');
    await second.page.reload();
    await second.page.getByText('attempt 1: 500 handler_failed', { exact: true }).waitFor();
    expect(await events(second.page).count()).toBe(1);
    await first.page.getByRole('button', { name: 'Step to the next retry' }).click();
    await first.page.getByText(/^attempt 2: 500/).waitFor();
    expect(await events(first.page).count()).toBe(1);
  });

  test('of 200 events changes only where something has happened', async () => {
    const opened = await openAnswering('processed');
    for (let count = 0; count < 199; count += 1) opened.sandbox.send({ type: 'transfer.created' });
    await opened.sandbox.settled();
    const { page } = await openPage(opened.url);
    await expect.poll(() => events(page).count()).toBe(199);
    await page.evaluate(`
      globalThis.changed = new Set();
      new MutationObserver((records) => {
        for (const { target } of records) {
          const parent = target.nodeType === Node.ELEMENT_NODE ? target : target.parentElement;
          globalThis.changed.add(parent?.closest('#events > li'));
        }
      }).observe(document.getElementById('events'), {
        subtree: true, childList: true, characterData: true, attributes: true,
      });
    `);
    const { id } = opened.sandbox.send({ type: 'dispute.won' });
    await page.locator('#events > li').first().getByText('processed', { exact: true }).waitFor();
    expect(await events(page).count()).toBe(200);
    const changed: string[] = await page.evaluate(
      `[...globalThis.changed].flatMap((item) => item ? [item.querySelector('.id').textContent] : [])`,
    );
    expect(changed).toEqual([id]);
  });
});
