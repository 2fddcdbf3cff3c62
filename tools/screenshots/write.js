// Takes the screenshots that docs/ and README.md show: `npm run screenshots`. Needs a Chromium or Chrome.

import { chromium } from 'playwright-core';
import { findBrowser } from '../programs.js';
import { takeOperatorPictures } from './operator.js';
import { takeSandboxPictures } from './sandbox.js';

const browser = await chromium.launch({
  executablePath: findBrowser(),
  // Grey edges of letters make smaller files than coloured ones.
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-lcd-text'],
});
await takeSandboxPictures(browser);
await takeOperatorPictures(browser);
await browser.close();
