import { findBrowser } from '../../../tools/programs.js';

const OFF = [
  // Pages of the browser itself, for its address bar, and a process in store for a next page: half of the
  // processor time of each page that a test opens.
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'SpareRendererForSitePerProcess'],
  // Of the list that Playwright gives, which this one replaces: what asks other hosts, and what delays a page.
  ...['AimEnabled', 'HttpsUpgrades', 'MediaRouter', 'NetworkTimeServiceQuerying', 'OptimizationHints'],
  ...['DestroyProfileOnBrowserClose', 'PaintHolding', 'PreconnectToSearch'],
];

/** How the machine's Chromium or Chrome is started: it does nothing on the network by itself. */
export const CHROMIUM: { readonly executablePath: string | undefined; readonly args: string[] } = {
  executablePath: findBrowser(),
  args: [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    `--disable-features=${OFF.join()}`,
  ],
};
