/** How Debian's Chromium is started: it does nothing on the network by itself. */
export const CHROMIUM: { readonly executablePath: string; readonly args: string[] } = {
  executablePath: '/usr/bin/chromium',
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
