import type { Locator, Page } from 'playwright-core';

/** Presses the button with exactly this name. */
export const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click();

/** The status of the dialog, which says how far the deed is. */
export const statusOf = (page: Page): Locator => page.locator('dialog[open] [role=status]');

/** Waits until the dialog says this. */
export const told = (page: Page, text: string | RegExp): Promise<void> =>
  statusOf(page).getByText(text).waitFor();
