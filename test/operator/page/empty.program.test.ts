import { expect, test } from 'vitest';
import { createOperated, idOf, letter, letters, record } from '../operated.ts';
import { deliver } from '../sent.ts';
import { openLook } from './looks.ts';

const reader = { mount: { authorize: () => ({ name: 'ben' }) } };

test('a list without dead letters says what that means', async () => {
  const { receiver } = createOperated();
  const { goTo, page } = await openLook(receiver);
  await page.getByText('No dead letter waits. What was refused is in Deliveries.').waitFor();
  await page.getByText('None is waiting.').waitFor();
  expect(await page.getByRole('button').allTextContents()).toEqual(['Filter', 'Refresh']);
  await goTo('#/dead-letters?type=dispute.*');
  await page.getByText('No dead letter matches.').waitFor();
});

test('a search that is not over says so, and goes on with the next page', async () => {
  const { receiver } = createOperated({ parked: letters(3) });
  const { goTo, page } = await openLook(receiver);
  // A search that takes too long has an answer like this one.
  await page.route(/api\/dead-letters\?type=dispute\.lost$/, (route) =>
    route.fulfill({ json: { deadLetters: [], after: idOf(2) } }),
  );
  await goTo('#/dead-letters?type=dispute.lost');
  await page.getByText('Nothing on this page matches. The search goes on with the next page.').waitFor();
  await page.getByRole('link', { name: 'Next page' }).click();
  await page.getByText('That is the end of the list.').waitFor();
  await page.getByRole('link', { name: 'First page' }).click();
  await page.getByText('Nothing on this page matches.').waitFor();
});

test('a receiver that keeps nothing says what the developers can set', async () => {
  const { receiver } = createOperated({ deadLetters: undefined });
  const { goTo, page } = await openLook(receiver);
  const noLetters = page.getByText('This receiver keeps no dead letters, so an event is lost');
  const noJournal = page.getByText('This receiver has no journal, so nothing tells');
  await noLetters.waitFor();
  await goTo('#/events');
  await noJournal.waitFor();
  await goTo('#/health');
  await noLetters.waitFor();
  await noJournal.waitFor();
  await page.getByText('none since this process began').waitFor();
  await goTo('#/deliveries');
  await page.getByText('No delivery has come since then. Other processes have lists of their own.').waitFor();
  await deliver(receiver, 'evt_1');
  await goTo('#/deliveries?outcome=parked');
  await page.getByText('No delivery has this outcome.').waitFor();
  await goTo('#/deliveries?outcome=processed');
  expect(await page.locator('.list > li').count()).toBe(1);
});

test('an empty journal says whether nothing came, nothing matches, or it is at its end', async () => {
  const { receiver } = createOperated({ records: [] });
  const { goTo, page } = await openLook(receiver, { fragment: '#/events' });
  await page
    .getByText('The journal has no event: none has come since it was set up, or they were pruned.')
    .waitFor();
  await goTo('#/events?outcome=failed');
  await page.getByText('No event matches.').waitFor();
  await goTo(`#/events?after=${idOf(1)}`);
  await page.getByText('That is the end of the list.').waitFor();
});

test('an event without a body says why there is none', async () => {
  const { receiver } = createOperated({ parked: [letter(1)], records: [record(2, { rawBody: undefined })] });
  const { goTo, page } = await openLook(receiver, { ...reader, fragment: `#/dead-letters/${idOf(1)}` });
  const hidden = page.getByText(
    'Bodies and headers are not shown to you: the application decides who sees them.',
  );
  await hidden.waitFor();
  expect(await page.content()).not.toContain('created_at');
  await goTo(`#/events/${idOf(2)}`);
  await hidden.waitFor();

  const allowed = await openLook(receiver, { fragment: `#/events/${idOf(2)}` });
  await allowed.page.getByText('The journal has no body of this event.').waitFor();
  await allowed.page.getByText('This process has not handled it lately: another one may have.').waitFor();
  await allowed.goTo(`#/dead-letters/${idOf(1)}`);
  await allowed.page.getByText('x-trace: t-1').waitFor();
});

test('a dead letter that cannot be read is named above the others', async () => {
  const { receiver } = createOperated({ parked: letters(1) });
  const { goTo, page } = await openLook(receiver, { fragment: '#/health' });
  await page.route(/api\/dead-letters$/, async (route) => {
    const answer: unknown = await (await route.fetch()).json();
    await route.fulfill({ json: { ...Object(answer), unreadable: 'the file evt_9.json is damaged' } });
  });
  await goTo('#/dead-letters');
  await page.getByText('One cannot be read: the file evt_9.json is damaged').waitFor();
  expect(await page.locator('.list > li').count()).toBe(1);
});
