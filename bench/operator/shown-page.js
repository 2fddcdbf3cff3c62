/// <reference lib="dom" />
import { chromium } from 'playwright-core';
import { findBrowser } from '../../tools/programs.js';

const WARM_UP = 5;

/**
 * The milliseconds from the press of "Refresh" to the next frame that shows the view, in a Chromium of the
 * machine.
 *
 * @param {string} url
 * @param {number} count
 * @returns {Promise<number[]>}
 */
export async function timesUntilShown(url, count) {
  const browser = await chromium.launch({
    executablePath: findBrowser(),
    args: ['--headless', '--no-sandbox', '--disable-gpu'],
  });
  try {
    const page = await browser.newPage();
    await page.goto(url);
    await page.locator('main[aria-busy="false"] li').first().waitFor();
    const times = [];
    for (let index = 0; index < WARM_UP + count; index += 1) times.push(await page.evaluate(refresh));
    return times.slice(WARM_UP);
  } finally {
    await browser.close();
  }
}

/** Runs in the page. */
function refresh() {
  const view = document.querySelector('main');
  const button = [...document.querySelectorAll('button')].find(
    ({ textContent }) => textContent === 'Refresh',
  );
  if (view === null || button === undefined) throw new Error('the page shows no view');
  const startedAt = performance.now();
  button.click();
  return new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      if (view.getAttribute('aria-busy') === 'true') return;
      observer.disconnect();
      requestAnimationFrame(() => resolve(performance.now() - startedAt));
    });
    observer.observe(view, { attributes: true });
  });
}
