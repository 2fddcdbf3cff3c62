import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { createFull, deliverSome, throughDialog, views } from './every-view.ts';
import { expectAccessible, expectFits, openLook, underAxe } from './looks.ts';

/** Opens the body of an event, as far as two levels of its tree. */
async function openDetails(page: Page): Promise<void> {
  for (const selector of ['.tree + details', '.tree > details', '.tree > details > details'])
    await page.evaluate(`Promise.all([...document.querySelectorAll('main ${selector}')].map((each) => {
      if (each.open) return;
      each.open = true;
      return new Promise((resolve) => each.addEventListener('toggle', resolve));
    }))`);
}

const looks = [
  { colorScheme: 'light', width: 360 },
  { colorScheme: 'dark', width: 1_280 },
] as const;

describe.each(looks)('in the $colorScheme scheme at $width px', ({ colorScheme, width }) => {
  const context = { ...underAxe, colorScheme, viewport: { width, height: 800 } };

  test('axe finds nothing on any view, and nothing is wider than the window', async () => {
    const full = createFull();
    const several = { payments: full.receiver, ['r'.repeat(300)]: full.receiver };
    const { faults, goTo, page } = await openLook(several, { context });
    await deliverSome(full);
    for (const [fragment, title] of views) {
      await goTo(fragment);
      expect(await page.title()).toBe(`${title} – posthorn`);
      await openDetails(page);
      await expectFits(page, title);
      await expectAccessible(page, `${title} ${fragment.slice(0, 40)}`);
    }
    expect(faults).toEqual([]);
  });

  test('axe finds nothing in any state of the dialog, and it fits', async () => {
    const look = await openLook(createFull().receiver, { context });
    const states: string[] = [];
    await throughDialog(look, async (state) => {
      states.push(state);
      await expectFits(look.page, state);
      await expectAccessible(look.page, state);
    });
    expect(states).toHaveLength(7);
    expect(look.faults).toEqual([]);
  });
});
