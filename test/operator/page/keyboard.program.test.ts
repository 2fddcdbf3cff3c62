import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { createOperated, idOf, letter, letters, record } from '../operated.ts';
import { told } from './dialog.ts';
import { afterShowing, focused, openLook } from './looks.ts';

/** Presses Tab until the focus is where it should be, and gives what it came past. */
async function tabTo(page: Page, wanted: string, most = 40): Promise<readonly string[]> {
  const passed: string[] = [];
  while (passed.length < most) {
    await page.keyboard.press('Tab');
    const now = await focused(page);
    if (now === wanted) return passed;
    passed.push(now);
  }
  throw new Error(`Tab does not lead to ${wanted}, but to ${passed.join(', ')}`);
}

/** Waits until something has the focus, because the view or the dialog changes after an answer. */
async function expectFocus(page: Page, wanted: string): Promise<void> {
  await expect.poll(() => focused(page)).toBe(wanted);
}

test('by the keyboard alone one filters a list, opens a letter, replays it and closes', async () => {
  const parked = [...letters(3), letter(4, { type: 'dispute.lost' })];
  const { handled, receiver } = createOperated({ parked });
  const { faults, page } = await openLook(receiver);
  await expectFocus(page, 'H2 Dead letters');

  await tabTo(page, 'INPUT Type');
  await page.keyboard.type('dispute.*');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.locator('.list > li').count()).toBe(1);
  await expectFocus(page, 'H2 Dead letters');
  expect(page.url()).toContain('?type=dispute.*');

  await tabTo(page, 'A dispute.lost');
  await page.keyboard.press('Enter');
  await expectFocus(page, 'H2 dispute.lost');
  expect(await tabTo(page, 'BUTTON Replay'), 'the deeds come first').toEqual([]);
  await page.keyboard.press('Enter');
  await page.getByText('1 event.', { exact: true }).waitFor();
  await expectFocus(page, 'H2 Replay dead letters');
  await tabTo(page, 'BUTTON Replay 1');
  await page.keyboard.press('Enter');
  await page.getByText('Done: 1 processed.').waitFor();
  await expectFocus(page, 'H2 Replay dead letters');
  expect(handled).toEqual([idOf(4)]);
  await tabTo(page, 'BUTTON Close');
  await page.keyboard.press('Enter');
  // The letter is gone, and the view says so.
  await expectFocus(page, 'H2 No dead letter');
  await page.goBack();
  await page.getByText('No dead letter matches.').waitFor();
  await expectFocus(page, 'H2 Dead letters');
  expect(faults).toEqual([]);
});

test('by the keyboard alone one chooses some and drops them', async () => {
  const { left, receiver } = createOperated({ parked: letters(3) });
  const { page } = await openLook(receiver);
  const past = await tabTo(page, `INPUT transfer.succeeded ${idOf(1)}`);
  expect(past.filter((each) => each.startsWith('BUTTON'))).toEqual([
    'BUTTON Filter',
    'BUTTON Replay all that match…',
    'BUTTON Drop all that match…',
  ]);
  await page.keyboard.press('Space');
  await tabTo(page, `INPUT transfer.succeeded ${idOf(3)}`);
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: 'Drop 2 chosen' }).focus();
  await page.keyboard.press('Enter');
  await told(page, '2 events.');
  await page.keyboard.press('Escape');
  await expectFocus(page, 'BUTTON Drop 2 chosen');
  expect(left.size, 'Escape did nothing').toBe(3);

  await page.keyboard.press('Enter');
  await told(page, '2 events.');
  await tabTo(page, 'BUTTON Drop 2');
  await page.keyboard.press('Enter');
  await page.getByText('Done: 2 dropped.').waitFor();
  await page.keyboard.press('Escape');
  await expectFocus(page, 'H2 Dead letters');
  await expect.poll(() => page.locator('.list > li').count()).toBe(1);
  expect([...left.keys()]).toEqual([idOf(2)]);
});

test('a dialog that is opened at once after another was closed counts and asks too', async () => {
  const { left, receiver } = createOperated({ parked: letters(3) });
  const { page } = await openLook(receiver);
  await page.getByRole('button', { name: 'Drop all that match…' }).click();
  await page.getByText('3 events.', { exact: true }).waitFor();
  // In one task, so the browser tells of the first dialog's end when the second is open.
  await page.evaluate(`(() => {
    const named = (name) => [...document.querySelectorAll('button')].find((each) => each.textContent === name);
    named('Cancel').click();
    named('Drop all that match…').click();
  })()`);
  await page.getByRole('button', { name: 'Drop 3' }).click();
  await page.getByText('Done: 3 dropped.').waitFor();
  expect(left.size).toBe(0);
  expect(await page.locator('dialog').count()).toBe(1);
});

test('the check box of the page chooses all of it by the keyboard', async () => {
  const { receiver } = createOperated({ parked: letters(3) });
  const { page } = await openLook(receiver);
  await tabTo(page, 'BUTTON Filter');
  await tabTo(page, 'A Clear');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  expect(await page.getByRole('button', { name: 'Replay 3 chosen' }).isEnabled()).toBe(true);
  await page.keyboard.press('Space');
  expect(await page.getByRole('button', { name: 'Replay 0 chosen' }).isDisabled()).toBe(true);
});

test('the focus stays inside the dialog, and does not begin on a deed', async () => {
  const { receiver } = createOperated({ records: [record(1)] });
  const { page } = await openLook(receiver, { fragment: `#/events/${idOf(1)}` });
  await tabTo(page, 'BUTTON Rerun…');
  await page.keyboard.press('Enter');
  await expectFocus(page, 'H2 Rerun handlers');
  const stops: string[] = [];
  for (let presses = 0; presses < 8; presses += 1) {
    await page.keyboard.press('Tab');
    stops.push(await focused(page));
  }
  expect(stops.slice(0, 5)).toEqual([
    'INPUT book',
    'INPUT Name of this rerun',
    'INPUT Reason',
    'BUTTON Count',
    'BUTTON Cancel',
  ]);
  expect(stops.filter((each) => each.startsWith('A ') || each.includes('Rerun…'))).toEqual([]);
  await page.keyboard.press('Escape');
  await expectFocus(page, 'BUTTON Rerun…');
});

test('a button that disappears leaves the focus in its place', async () => {
  const data = { list: Array.from({ length: 150 }, (_, index) => index), text: 'x'.repeat(60_000) };
  const rawBody = Buffer.from(JSON.stringify(data));
  const { receiver } = createOperated({ parked: [letter(1, { rawBody })] });
  const { page } = await openLook(receiver, { fragment: `#/dead-letters/${idOf(1)}` });
  await tabTo(page, 'SUMMARY "list": 150 in a list');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Show more of the 50' }).waitFor();
  await tabTo(page, 'BUTTON Show more of the 50 that follow');
  await page.keyboard.press('Enter');
  await page.getByText('149', { exact: true }).first().waitFor();
  await expectFocus(page, 'DIV 100: 100');
  await tabTo(page, `SUMMARY As it was sent, ${rawBody.length} characters`);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Show all' }).waitFor();
  await tabTo(page, `BUTTON Show all ${rawBody.length} characters`);
  await page.keyboard.press('Enter');
  await expect.poll(async () => (await focused(page)).startsWith('PRE {"list":')).toBe(true);

  await page.getByRole('button', { name: 'Refresh' }).focus();
  await afterShowing(page, () => page.keyboard.press('Enter'));
  await expectFocus(page, 'H2 transfer.succeeded');
});
