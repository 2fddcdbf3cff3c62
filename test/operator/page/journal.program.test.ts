import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { createOperated, idOf, letter, record } from '../operated.ts';
import { deliver } from '../sent.ts';
import { press } from './dialog.ts';
import { afterShowing, openLook } from './looks.ts';

/** An event that failed, a later one of the same resource, and one of another. */
const createKept = () =>
  createOperated({
    parked: [letter(1, { message: 'the account is locked since May' })],
    records: [
      record(1, { outcome: 'parked', code: 'handler_failed', handled: [], deliveries: 4, resource: 'TR1' }),
      record(2, { resource: 'TR1' }),
      record(3, { resource: 'TR2', type: 'dispute.won' }),
    ],
  });

const listed = (page: Page): Promise<string[]> => page.locator('main li .id').allTextContents();

/** Fills in a field of the filter, and waits for the list. */
async function filterBy(page: Page, name: string, value: string): Promise<void> {
  const field = page.getByLabel(name, { exact: true });
  if (name === 'Outcome') await field.selectOption(value);
  else await field.fill(value);
  await afterShowing(page, () => press(page, 'Filter'));
}

const clear = (page: Page): Promise<void> =>
  afterShowing(page, () => page.getByRole('link', { name: 'Clear' }).click());

test('events are found by id, resource, type and outcome', async () => {
  const { faults, page } = await openLook(createKept().receiver, { fragment: '#/events' });
  expect(await listed(page)).toEqual([1, 2, 3].map(idOf));
  await filterBy(page, 'Resource', 'TR1');
  expect(await listed(page)).toEqual([1, 2].map(idOf));
  await clear(page);
  await filterBy(page, 'Outcome', 'parked');
  expect(await listed(page)).toEqual([idOf(1)]);
  await clear(page);
  await filterBy(page, 'Type', 'dispute.*');
  expect(await listed(page)).toEqual([idOf(3)]);
  await clear(page);
  await filterBy(page, 'Id', idOf(2));
  await page.getByRole('heading', { name: 'What happened' }).waitFor();
  expect(await page.locator('main dd').first().textContent()).toBe(idOf(2));
  await page.getByRole('link', { name: 'TR1' }).click();
  await expect.poll(() => listed(page)).toEqual([1, 2].map(idOf));
  expect(faults).toEqual([]);
});

test('an event has its whole story: its deliveries, its dead letter, and what this process did', async () => {
  const { receiver } = createKept();
  const { goTo, page } = await openLook(receiver, { fragment: '#/deliveries' });
  await page.getByText('No delivery has come since then.').waitFor();
  await deliver(receiver, idOf(1));
  await goTo(`#/events/${idOf(1)}`);
  await page.getByText('it was delivered 4 times').waitFor();
  await page.getByText('the account is locked since May').waitFor();
  await page.getByText('No named handler has finished it.').waitFor();
  const runs = page.locator('section', { hasText: 'In this process' });
  await runs.getByText('processed', { exact: true }).waitFor();
  await runs.getByText('book: finished').waitFor();
  expect(await page.getByRole('button', { name: 'Rerun…' }).isDisabled()).toBe(true);
  await page.getByRole('link', { name: 'Its dead letter' }).click();
  await page.getByRole('link', { name: 'The whole story' }).waitFor();
});
