import { findBrowser } from '../../../tools/programs.js';

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
  ],
};
