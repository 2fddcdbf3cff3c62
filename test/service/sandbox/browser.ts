import { type Browser, chromium } from 'playwright-core';
import { WAIT_LIMIT_MS } from '../../support/limits.ts';
import { CHROMIUM } from './chromium.ts';

let browser: Promise<Browser> | undefined;

/**
 * The browser of a worker: its first file that needs one starts it, and the others find it here. It ends with
 * the worker, as all that a worker has started: test/support/leave-nothing.ts.
 */
export function sharedBrowser(): Promise<Browser> {
  browser ??= chromium.launch({ ...CHROMIUM, timeout: WAIT_LIMIT_MS });
  return browser;
}
