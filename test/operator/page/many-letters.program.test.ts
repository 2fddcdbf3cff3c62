import type { Page } from 'playwright-core';
import type { DeadLetters } from 'posthorn';
import { expect, test } from 'vitest';
import { createOperated, letter } from '../operated.ts';
import { openLook } from './looks.ts';

const COUNT = 10_000;
const idAt = (index: number): string => `evt_${String(index).padStart(5, '0')}`;
const parked = Array.from({ length: COUNT }, (_, index) =>
  letter(index, { id: idAt(index), type: index % 100 === 99 ? 'dispute.lost' : 'transfer.succeeded' }),
);

/** Dead letters that nothing has to sort: each page of the list asks twice. */
const deadLetters: DeadLetters = {
  put: async () => {},
  get: async (id) => parked.find((each) => each.id === id),
  remove: async () => false,
  async *list({ after, limit } = {}) {
    const start = after === undefined ? 0 : Number(after.slice('evt_'.length)) + 1;
    yield* parked.slice(start, start + (limit ?? COUNT));
  },
};

/** Follows "Next page" from the page that is shown to the end, and gives the ids of each. */
const idsToTheEnd = (page: Page): Promise<string[][]> =>
  page.evaluate(`(async () => {
    const main = document.querySelector('main');
    const shownIds = () => [...main.querySelectorAll('.list .id')].map(({ textContent }) => textContent);
    const nextLink = () => [...main.querySelectorAll('a')].find((each) => each.textContent === 'Next page');
    const shown = () => new Promise((resolve) => {
      const observer = new MutationObserver(() => {
        if (main.getAttribute('aria-busy') === 'true') return;
        observer.disconnect();
        resolve();
      });
      observer.observe(main, { attributes: true });
    });
    const pages = [shownIds()];
    while (nextLink() !== undefined) {
      const isShown = shown();
      nextLink().click();
      await isShown;
      pages.push(shownIds());
    }
    return pages;
  })()`);

test('of ten thousand dead letters, fifty are on a page, and no page to the end loses one', async () => {
  const { receiver } = createOperated({ deadLetters });
  const { faults, goTo, page } = await openLook(receiver);
  await page.getByText('10,000 are waiting').or(page.getByText('or more are waiting')).waitFor();
  expect(await page.locator('.list > li').count()).toBe(50);
  // Larger pages, which take less time here.
  await goTo('#/dead-letters?limit=200');
  const pages = await idsToTheEnd(page);
  expect(pages.map(({ length }) => length)).toEqual(Array(COUNT / 200).fill(200));
  expect(pages.flat()).toEqual(Array.from({ length: COUNT }, (_, index) => idAt(index)));
  expect(faults).toEqual([]);
});

test('a filter by the type finds all of it, page by page, and the way back leads there', async () => {
  const { receiver } = createOperated({ deadLetters });
  const { page } = await openLook(receiver);
  await page.getByLabel('Type').fill('dispute.*');
  await page.keyboard.press('Enter');
  await page.getByText(idAt(99)).waitFor();
  const pages = await idsToTheEnd(page);
  const wanted = Array.from({ length: COUNT / 100 }, (_, index) => idAt(index * 100 + 99));
  expect(pages.flat()).toEqual(wanted);
  expect(pages[0]).toHaveLength(50);
  await page.goBack();
  await page.getByText('Next page').waitFor();
  expect(await page.locator('.list .id').allTextContents()).toEqual(wanted.slice(0, 50));
  expect(await page.getByLabel('Type').inputValue()).toBe('dispute.*');
});
