import { createMemoryStore } from 'posthorn';
import { expect, test } from 'vitest';
import { HeldHandler } from '../../support/held-handler.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { createOperated, idOf, letter, letters, record } from '../operated.ts';
import { press, statusOf, told } from './dialog.ts';
import { afterShowing, openLook, settled } from './looks.ts';

test('all that match are counted by type and reason, and nothing is done before one says so', async () => {
  const { handled, left, receiver } = createOperated({
    parked: [
      ...letters(3),
      letter(4, { type: 'dispute.won' }),
      letter(5, { reason: 'event_too_old' }),
      letter(6, { reason: 'data_invalid' }),
    ],
    handle: ({ id }) => {
      if (id === idOf(2)) throw new Error('the account is locked');
    },
  });
  const { faults, page } = await openLook(receiver, { fragment: '#/dead-letters?type=transfer.*' });
  await press(page, 'Replay all that match…');
  await told(page, 'All with: type transfer.*.');
  await told(page, '4 events.');
  await told(page, '3 × transfer.succeeded, handler_failed');
  await told(page, '1 × transfer.succeeded, data_invalid');
  await told(page, 'Left out, because they were parked as too old (replay each from its own page): 1.');
  expect([handled.length, left.size]).toEqual([0, 6]);
  await press(page, 'Replay 4');
  await told(page, 'Done: 3 processed, 1 parked.');
  await page.getByText('handler_failed: the handler "book" failed: the account is locked').waitFor();
  expect(handled.toSorted()).toEqual([1, 2, 3, 6].map(idOf));
  await afterShowing(page, () => press(page, 'Close'));
  expect(await page.locator('main li .id').allTextContents()).toEqual([2, 5].map(idOf));
  expect(faults).toEqual([]);
});

test('the chosen ones are dropped, and no other', async () => {
  const { handled, left, receiver } = createOperated({ parked: letters(5) });
  const { page } = await openLook(receiver);
  for (const id of [2, 4].map(idOf)) await page.getByLabel(id).check();
  await press(page, 'Drop 2 chosen');
  await told(page, '2 × transfer.succeeded, handler_failed');
  await press(page, 'Cancel');
  expect(left.size).toBe(5);
  await press(page, 'Drop 2 chosen');
  await press(page, 'Drop 2');
  await told(page, 'Done: 2 dropped.');
  await press(page, 'Close');
  await page.getByText('3 are waiting').waitFor();
  expect([[...left.keys()], handled.length]).toEqual([[1, 3, 5].map(idOf), 0]);
});

test('a rerun asks for handlers, a name and a reason, and counts anew when one of them changes', async () => {
  const reruns: unknown[] = [];
  const { handled, receiver } = createOperated({
    records: [record(1), record(2)],
    handle: (_event, { rerun }) => void reruns.push(rerun),
  });
  const { faults, page } = await openLook(receiver, { fragment: `#/events/${idOf(1)}` });
  await press(page, 'Rerun…');
  await press(page, 'Count');
  await page.locator('dialog .note').waitFor();
  await page.getByLabel('book').check();
  await page.getByLabel('Name of this rerun').fill('mend');
  await page.getByLabel('Reason').fill('wrong account');
  await press(page, 'Count');
  await told(page, '1 × would run');
  await page.getByLabel('Name of this rerun').fill('mend 2');
  expect(await page.getByRole('button', { name: 'Rerun 1' }).count()).toBe(0);
  await press(page, 'Count');
  await press(page, 'Rerun 1');
  await told(page, 'Done: 1 processed.');
  expect([handled, reruns]).toEqual([[idOf(1)], [{ run: 'mend 2', reason: 'wrong account' }]]);
  await press(page, 'Close');
  await press(page, 'Rerun…');
  await page.getByLabel('book').check();
  await page.getByLabel('Name of this rerun').fill('mend 2');
  await press(page, 'Count');
  await told(page, '1 × done before under this name');
  expect(await page.getByRole('button', { name: 'Rerun 0' }).count()).toBe(0);
  expect(faults).toEqual([]);
});

test.each(['Stop', 'Escape'])('%s ends a deed after its portion, and it can go on', async (way) => {
  const held = new HeldHandler();
  const { handled, receiver } = createOperated({
    parked: letters(60),
    handle: (event, context) => (event.id === idOf(21) ? held.handle(event, context) : undefined),
  });
  const { page } = await openLook(receiver);
  await press(page, 'Replay all that match…');
  await press(page, 'Replay 60');
  const call = await held.calls.nth(1);
  await told(page, '20 processed of 60.');
  if (way === 'Stop') await press(page, 'Stop');
  else await page.keyboard.press('Escape');
  await told(page, /^Stopping/);
  call.succeed();
  await told(page, 'Stopped: 40 processed. 20 events left.');
  expect(await page.getByRole('dialog').isVisible()).toBe(true);
  expect(handled.length).toBe(40);
  await press(page, 'Go on');
  await told(page, 'Done: 60 processed.');
  expect(handled.toSorted()).toEqual(letters(60).map(({ id }) => id));
});

test('two operators who replay one selection at once reach each event once', async () => {
  const left = new Map(letters(60).map((one) => [one.id, one]));
  const shared = { deadLetters: createMapDeadLetters(left), store: createMemoryStore() };
  const [one, other] = [createOperated(shared), createOperated(shared)];
  const pages = [(await openLook(one.receiver)).page, (await openLook(other.receiver)).page];
  for (const page of pages) await press(page, 'Replay all that match…');
  await Promise.all(pages.map((page) => press(page, 'Replay 60')));
  await Promise.all(pages.map((page) => told(page, /^Done: /)));
  expect([...one.handled, ...other.handled].toSorted()).toEqual(letters(60).map(({ id }) => id));
  const texts = await Promise.all(pages.map((page) => statusOf(page).textContent()));
  const processed = texts.map((text) => Number(/(\d+) processed/.exec(text ?? '')?.[1] ?? 0));
  expect(processed).toEqual([one.handled.length, other.handled.length]);
});

test('a deed takes nothing that is parked after the count', async () => {
  let time = letter(1).parkedAt + 60_000;
  const { handled, left, receiver } = createOperated({ parked: letters(2), now: () => time });
  const { page } = await openLook(receiver);
  await press(page, 'Replay all that match…');
  await told(page, '2 events.');
  time += 1_000;
  const late = letter(3, { parkedAt: time });
  left.set(late.id, late);
  time += 1_000;
  await press(page, 'Replay 2');
  await told(page, 'Done: 2 processed.');
  expect([handled.toSorted(), [...left.keys()]]).toEqual([[1, 2].map(idOf), [late.id]]);
});

test('the address has the receiver and the filter, and the way back leads to them', async () => {
  const payments = createOperated({ parked: letters(2) });
  const partners = createOperated({ parked: [letter(7, { type: 'dispute.won' }), letter(8)] });
  const receivers = { payments: payments.receiver, partners: partners.receiver };
  const { origin, page } = await openLook(receivers);
  await page.getByText('2 are waiting').waitFor();
  await page.getByLabel('Receiver').selectOption('partners');
  await page.getByText(idOf(7)).waitFor();
  await page.getByLabel('Type').fill('dispute.*');
  await press(page, 'Filter');
  await page.getByText(idOf(8)).waitFor({ state: 'detached' });
  const address = page.url();
  await page.getByRole('link', { name: 'dispute.won' }).click();
  await page.getByRole('heading', { name: 'What happened' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'What happened' }).waitFor({ state: 'detached' });
  expect(page.url()).toBe(address);
  const colleague = await page.context().newPage();
  await colleague.goto(address);
  await settled(colleague);
  expect(await colleague.getByLabel('Type').inputValue()).toBe('dispute.*');
  expect(await colleague.locator('main li .id').allTextContents()).toEqual([idOf(7)]);
  expect(address.startsWith(`${origin}/operator/#/`)).toBe(true);
  await press(colleague, 'Replay all that match…');
  await press(colleague, 'Replay 1');
  await told(colleague, 'Done: 1 processed.');
  expect([partners.handled, payments.handled]).toEqual([[idOf(7)], []]);
});

test('a deed is of the receiver that it was counted for, though the reader goes back', async () => {
  const payments = createOperated({ parked: letters(2) });
  const partners = createOperated({ parked: letters(3) });
  const receivers = { payments: payments.receiver, partners: partners.receiver };
  const { goTo, page } = await openLook(receivers, { fragment: '#/dead-letters?receiver=partners' });
  await goTo('#/dead-letters?receiver=payments');
  await press(page, 'Drop all that match…');
  await page.getByText('Receiver: payments.').waitFor();
  await told(page, '2 events.');
  await page.goBack();
  await page.getByText('3 are waiting').waitFor();
  await press(page, 'Drop 2');
  await told(page, 'Done: 2 dropped.');
  expect([payments.left.size, partners.left.size]).toEqual([0, 3]);
});
