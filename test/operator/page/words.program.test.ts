import { expect, test } from 'vitest';
import { codeMeanings, outcomeMeanings } from '../../../src/operator/page/meanings.ts';
import { createOperated, idOf, letter, letters, record } from '../operated.ts';
import { focused, openLook } from './looks.ts';

test('the view of meanings has each outcome and each code, with a next step', async () => {
  const { page } = await openLook(createOperated().receiver, { fragment: '#/meanings' });
  const terms = await page.locator('main dt').allTextContents();
  expect(terms).toEqual([...Object.keys(outcomeMeanings), ...Object.keys(codeMeanings)]);
  const descriptions = await page.locator('main dd').allTextContents();
  // A meaning and a step, each of which is a sentence.
  for (const [index, each] of descriptions.entries())
    expect(each, terms[index]).toMatch(/^[A-Z].{9,}[.:?] [A-Z].*\.$/);
});

test('a letter and an event say what their code means and what to do', async () => {
  const { receiver } = createOperated({
    parked: [letter(1, { reason: 'event_too_old' }), letter(2, { reason: 'ledger_locked' })],
    records: [record(1, { outcome: 'parked', code: 'event_too_old' })],
  });
  const { goTo, page } = await openLook(receiver, { fragment: `#/dead-letters/${idOf(1)}` });
  const step = page.getByText(/^Next step: Check the clock of the machine\./);
  await step.waitFor();
  await goTo(`#/events/${idOf(1)}`);
  await step.waitFor();
  await page.getByText('is kept as a dead letter').waitFor();
  await page.getByRole('link', { name: 'Its dead letter' }).waitFor();
  // A handler has codes of its own.
  await goTo(`#/dead-letters/${idOf(2)}`);
  await page.locator('main section').getByText('ledger_locked').waitFor();
  expect(await page.getByText('Next step').count()).toBe(0);
});

test('screen readers find the parts of the page by their roles and names', async () => {
  const { receiver } = createOperated({ parked: letters(2), records: [record(1)] });
  const { goTo, page } = await openLook({ payments: receiver, partners: receiver });
  expect(await page.getByRole('banner').getByRole('heading', { level: 1 }).textContent()).toBe('posthorn');
  expect(await page.getByRole('banner').getByText('ada').count()).toBe(1);
  const views = page.getByRole('navigation', { name: 'Views' });
  expect(await views.getByRole('link').allTextContents()).toEqual([
    'Dead letters',
    'Deliveries',
    'Journal',
    'Health',
    'Meanings',
  ]);
  expect(await views.locator('[aria-current="page"]').allTextContents()).toEqual(['Dead letters']);
  expect(await page.getByLabel('Receiver').inputValue()).toBe('payments');
  const main = page.getByRole('main');
  expect(await main.getByRole('heading').allTextContents()).toEqual(['Dead letters']);
  for (const name of ['Type', 'Reason', 'Parked since', 'Parked until'])
    expect(await page.getByRole('form', { name: 'Filter' }).getByLabel(name).count(), name).toBe(1);
  expect(await main.getByRole('listitem').count()).toBe(2);
  for (const name of ['All of this page', `transfer.succeeded ${idOf(1)}`, `transfer.succeeded ${idOf(2)}`])
    expect(await main.getByRole('checkbox', { name, exact: true }).count(), name).toBe(1);

  await goTo(`#/dead-letters/${idOf(1)}`);
  expect(await main.getByRole('heading').allTextContents()).toEqual([
    'transfer.succeeded',
    'What happened',
    'Error',
    'Handlers',
    'Body',
    'Headers',
    'Facts',
  ]);
  expect(await focused(page)).toBe('H2 transfer.succeeded');
});

test('the dialog has a name, and tells in its status what it does', async () => {
  const handle = ({ id }: { readonly id: string }): void => {
    if (id === idOf(2)) throw new Error('still locked');
  };
  const { receiver } = createOperated({ parked: letters(3), handle });
  const { page } = await openLook(receiver);
  await page.getByRole('button', { name: 'Replay all that match…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Replay dead letters' });
  const status = dialog.getByRole('status');
  await expect
    .poll(() => status.textContent())
    .toBe('All, without a filter.3 events.3 × transfer.succeeded, handler_failed');
  // A status that is there before its text changes is read out.
  await page.evaluate('globalThis.first = document.querySelector("dialog [role=status]")');
  await dialog.getByRole('button', { name: 'Replay 3' }).click();
  await expect.poll(() => status.textContent()).toMatch(/^Done: 2 processed, 1 \w+\.$/);
  expect(await page.evaluate('document.querySelector("dialog [role=status]") === globalThis.first')).toBe(
    true,
  );
  expect(await dialog.getByRole('progressbar', { name: 'Replay dead letters' }).count()).toBe(1);
  await dialog.getByRole('listitem').getByText('still locked').waitFor();
});
