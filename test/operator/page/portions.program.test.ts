import { expect, test } from 'vitest';
import { HeldHandler } from '../../support/held-handler.ts';
import { createOperated, idOf, letters, record } from '../operated.ts';
import { press, told } from './dialog.ts';
import { openLook } from './looks.ts';

const idsOf = (count: number): string[] => letters(count).map(({ id }) => id);

const records = (count: number) => Array.from({ length: count }, (_, index) => record(index + 1));

test('the chosen ones of a whole page are replayed in portions, can be stopped, and go on', async () => {
  const held = new HeldHandler();
  const { handled, left, receiver } = createOperated({
    parked: letters(52),
    handle: (event, context) => (event.id === idOf(21) ? held.handle(event, context) : undefined),
  });
  const { faults, page } = await openLook(receiver);
  await page.getByLabel('All of this page').check();
  await page.getByLabel(idOf(50)).uncheck();
  await press(page, 'Replay 49 chosen');
  await told(page, '49 × transfer.succeeded, handler_failed');
  expect(handled).toEqual([]);
  await press(page, 'Replay 49');
  const call = await held.calls.nth(1);
  await told(page, '20 processed of 49.');
  await press(page, 'Stop');
  call.succeed();
  await told(page, 'Stopped: 40 processed. 9 events left.');
  await press(page, 'Go on');
  await told(page, 'Done: 49 processed.');
  expect(handled.toSorted()).toEqual(idsOf(49));
  await press(page, 'Close');
  await page.getByText('3 are waiting').waitFor();
  expect([...left.keys()]).toEqual([50, 51, 52].map(idOf));
  expect(await page.getByRole('button', { name: 'Replay 0 chosen' }).isDisabled()).toBe(true);
  expect(faults).toEqual([]);
});

test('a rerun of all is stopped after its portion, and goes on under its name', async () => {
  const held = new HeldHandler();
  const runs = new Set<string | undefined>();
  const { handled, receiver } = createOperated({
    records: records(45),
    handle: (event, context) => {
      runs.add(context.rerun?.run);
      return event.id === idOf(21) ? held.handle(event, context) : undefined;
    },
  });
  const { page } = await openLook(receiver, { fragment: '#/events' });
  await press(page, 'Rerun all that match…');
  await page.getByLabel('book').check();
  await page.getByLabel('Name of this rerun').fill('mend');
  await press(page, 'Count');
  await press(page, 'Rerun 45');
  const call = await held.calls.nth(1);
  await page.keyboard.press('Escape');
  await told(page, /^Stopping/);
  call.succeed();
  await told(page, 'Stopped: 40 processed. 5 events left.');
  await press(page, 'Go on');
  await told(page, 'Done: 45 processed.');
  expect([handled.toSorted(), [...runs]]).toEqual([idsOf(45), ['mend']]);
});

test('a rerun whose answer was lost goes on, and says which it had done', async () => {
  const { handled, receiver } = createOperated({ records: records(45) });
  const { page } = await openLook(receiver, { fragment: '#/events' });
  await press(page, 'Rerun all that match…');
  await page.getByLabel('book').check();
  await press(page, 'Count');
  await page.getByRole('button', { name: 'Rerun 45' }).waitFor();
  let asked = 0;
  await page.route('**/events/rerun*', async (route) => {
    asked += 1;
    if (asked !== 2) return route.continue();
    await route.fetch();
    await route.abort();
  });
  await press(page, 'Rerun 45');
  await told(page, 'The application does not answer.');
  await told(page, 'Stopped: 20 processed. 25 events left.');
  expect(handled.length).toBe(40);
  await press(page, 'Go on');
  await told(page, 'Done: 25 processed, 20 done.');
  expect(handled.toSorted()).toEqual(idsOf(45));
});
