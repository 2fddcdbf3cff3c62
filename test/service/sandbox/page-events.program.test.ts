import type { RequestListener } from 'node:http';
import type { Page } from 'playwright-core';
import { createReceiver, PermanentError } from 'posthorn';
import { toNode } from 'posthorn/node';
import { describe, expect, test } from 'vitest';
import { listenUntilTheEnd } from '../../support/listen.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { throwing } from '../../support/throwing.ts';
import { READING } from './copied-command.ts';
import { coloursOf, openAnswering, openPage, receive, shownEvents } from './opened-page.ts';
import { createWebhook, openSandbox } from './opened-sandbox.ts';
import { openRecorded } from './recording-endpoint.ts';

const focusedText = (page: Page): Promise<string> => page.evaluate('document.activeElement.textContent');

describe('an outcome', () => {
  test('is the badge of the answer, and of the event', async () => {
    const outcomes = [
      { name: 'parked', line: 'attempt 1: 200 parked', state: 'parked as a dead letter' },
      { name: 'ignored', line: 'attempt 1: 200 ignored', state: 'ignored: no handler of its type' },
      { name: 'queued', line: 'attempt 1: 202 queued', state: 'queued for a worker' },
      { name: 'processed', line: 'attempt 1: 200 processed', state: 'delivered' },
    ] as const;
    const opened = await openAnswering(...outcomes.map(({ name }) => name));
    const { page } = await openPage(opened.url);
    const badges = page.locator('#events > li').first().locator('.badge');
    for (const { name, line, state } of outcomes) {
      opened.sandbox.send({ type: 'transfer.succeeded' });
      await page.getByText(line, { exact: true }).waitFor();
      expect(await badges.allTextContents()).toEqual([state, name]);
      const [shown, shownOfAnswer] = await coloursOf(page, '#events > li:first-child .badge');
      expect(shown).toMatch(/^rgb/);
      expect(shown).toBe(shownOfAnswer);
    }
  });

  test('of a real receiver is parked after a PermanentError, and ignored without a handler', async () => {
    const opened = await openSandbox();
    const listeners: RequestListener[] = [];
    const url = await listenUntilTheEnd((request, response) => listeners[0]?.(request, response));
    const { secret_signing_key } = await createWebhook(opened, `{"url":"${url}"}`);
    const receiver = createReceiver({
      signingKey: secret_signing_key,
      deadLetters: createMapDeadLetters(),
      now: opened.sandbox.clock.now,
    });
    receiver.observe(() => {});
    receiver.on('dispute.lost', throwing(new PermanentError('no such merchant')));
    listeners.push(toNode(receiver));
    const { page } = await openPage(opened.url);
    opened.sandbox.send({ type: 'dispute.lost' });
    await page.getByText('parked as a dead letter').waitFor();
    opened.sandbox.send({ type: 'dispute.won' });
    await page.getByText('ignored: no handler of its type').waitFor();
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
    expect(await shownEvents(page).count()).toBe(1);
    expect(faults).toEqual([]);
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
    await expect.poll(() => shownEvents(page).count()).toBe(2);
    const sent = await page.locator('#send-result').textContent();
    expect(sent).toMatch(/^sent evt_/);
    expect(sent).not.toContain(id);
    const { body } = await opened.call('GET', `/sandbox/events/${sent?.slice('sent '.length)}`);
    expect(body).toMatchObject({ type: 'loan.created', data: { id: 'L1', amount: '12.00', long } });
  });
});

describe('events whose ids are shown in part', () => {
  test.each([
    { name: 'long', ids: ['é'.repeat(1_000), 'b', 'c'].map((end) => 'é'.repeat(1_000) + end) },
    { name: 'not Unicode', ids: ['\ud800', '\ud801', `${'x'.repeat(999)}💶`] },
  ])('are each resent and copied: $name', async ({ ids }) => {
    const { opened } = await openRecorded();
    const { page, faults } = await openPage(opened.url, READING);
    // So long that the page asks for the attempt again.
    for (const id of ids)
      opened.sandbox.send({ type: 'loan.created', id, data: { long: 'x'.repeat(20_000) } });
    await opened.sandbox.settled();
    await expect.poll(() => shownEvents(page).count()).toBe(ids.length);
    for (const [index, id] of ids.entries()) {
      const item = shownEvents(page).nth(ids.length - 1 - index);
      await item.getByRole('button', { name: /^Resend/ }).click();
      await item.getByText('duplicate: 204', { exact: true }).waitFor();
      expect(opened.sandbox.deliveries().at(-1)).toMatchObject({ event: id, duplicate: true });
      await item.locator('summary').first().click();
      await item.getByRole('button', { name: 'Copy as curl' }).first().click();
      await item.getByText('Copied.').waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toContain('xxxxxxxxx');
    }
    expect(faults).toEqual([]);
  });
});

describe('the list', () => {
  test('is filtered by type and by outcome, also while events come in', async () => {
    const opened = await openAnswering('parked', 'processed', 'failed', 'processed');
    const { page, faults } = await openPage(opened.url);
    for (const type of ['transfer.failed', 'transfer.created', 'dispute.lost']) {
      await opened.settle({ type });
    }
    await expect.poll(() => shownEvents(page).count()).toBe(3);
    await page.getByLabel('By outcome').selectOption('parked');
    expect(await shownEvents(page).count()).toBe(1);
    expect(await page.locator('#matches').textContent()).toBe('1 of 3 events');
    await page.getByLabel('By outcome').selectOption('processed');
    opened.sandbox.send({ type: 'dispute.won' });
    await page.locator('#matches', { hasText: '2 of 4 events' }).waitFor();
    await page.getByLabel('By type').selectOption('dispute.won');
    await page.locator('#matches', { hasText: '1 of 4 events' }).waitFor();
    await page.getByLabel('By outcome').selectOption('');
    await page.getByLabel('By type').selectOption('');
    expect(await shownEvents(page).count()).toBe(4);
    expect(await page.locator('#matches').textContent()).toBe('');
    expect(faults).toEqual([]);
  });

  test('is cleared on every page and after a reload; an event with a retry to come stays', async () => {
    const opened = await openAnswering('processed', 'failed');
    const first = await openPage(opened.url);
    const second = await openPage(opened.url);
    await opened.settle({ type: 'transfer.succeeded' });
    await opened.settle({ type: 'dispute.lost' });
    for (const { page } of [first, second]) await expect.poll(() => shownEvents(page).count()).toBe(2);
    await first.page.getByRole('button', { name: 'Clear' }).click();
    for (const { page } of [first, second]) {
      await expect.poll(() => shownEvents(page).count()).toBe(1);
      await page.getByText('failed, a retry is to come').waitFor();
      await page.getByText('attempt 1: 500 handler_failed', { exact: true }).waitFor();
    }
    expect(await focusedText(first.page)).toBe('Clear');
    await second.page.reload();
    await second.page.getByText('attempt 1: 500 handler_failed', { exact: true }).waitFor();
    expect(await shownEvents(second.page).count()).toBe(1);
    await first.page.getByRole('button', { name: 'Step to the next retry' }).click();
    await first.page.getByText(/^attempt 2: 500/).waitFor();
    expect(await shownEvents(first.page).count()).toBe(1);
  });
});
