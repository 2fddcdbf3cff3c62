import { expect, test } from 'vitest';
import { HeldHandler } from '../../support/held-handler.ts';
import { createOperated, idOf, letter, letters } from '../operated.ts';
import { press, told } from './dialog.ts';
import { afterShowing, openLook } from './looks.ts';

test('a deed that was counted stays with its receiver, though the way back shows another one', async () => {
  const payments = createOperated({ parked: letters(3) });
  const partners = createOperated({ parked: [letter(7), letter(8)] });
  const { page } = await openLook({ payments: payments.receiver, partners: partners.receiver });
  await page.getByText('3 are waiting').waitFor();
  await page.getByLabel('Receiver').selectOption('partners');
  await page.getByText('2 are waiting').waitFor();
  await press(page, 'Drop all that match…');
  await told(page, '2 events.');
  await page.goBack();
  await page.getByText('3 are waiting').waitFor();
  await press(page, 'Drop 2');
  await told(page, /^Done: |^Stopped: /);
  expect([payments.left.size, partners.left.size]).toEqual([3, 0]);
});

test('a deed that runs stays with its receiver, though the way back shows another one', async () => {
  const held = new HeldHandler();
  const payments = createOperated({ parked: letters(45) });
  const partners = createOperated({
    parked: letters(45),
    handle: (event, context) => (event.id === idOf(1) ? held.handle(event, context) : undefined),
  });
  const { page } = await openLook({ payments: payments.receiver, partners: partners.receiver });
  await page.getByText('45 are waiting').waitFor();
  await afterShowing(page, () => page.getByLabel('Receiver').selectOption('partners'));
  await press(page, 'Replay all that match…');
  await press(page, 'Replay 45');
  const call = await held.calls.nth(1);
  await page.goBack();
  await expect.poll(() => page.getByLabel('Receiver').inputValue()).toBe('payments');
  call.succeed();
  await told(page, /^Done: |^Stopped: /);
  expect([payments.handled, partners.handled.toSorted()]).toEqual([[], letters(45).map(({ id }) => id)]);
});
