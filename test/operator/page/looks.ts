import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { type Operable, type OperableByName, toNodeOperator } from 'posthorn/operator';
import { expect, onTestFinished } from 'vitest';
import { sharedBrowser } from '../../service/sandbox/browser.ts';
import { WAIT_LIMIT_MS } from '../../support/limits.ts';
import { listenUntilTheEnd } from '../../support/listen.ts';
import { ada, type MountOptions } from '../mounts.ts';

/** The page of an interface, and everything that went wrong in it. */
export interface Look {
  readonly page: Page;
  readonly faults: readonly string[];
  /** The addresses that it has asked for. */
  readonly asked: readonly string[];
  /** The origin of the interface. */
  readonly origin: string;
  /** Goes to the view of a fragment, and waits until it is there. */
  readonly goTo: (fragment: string) => Promise<void>;
}

interface LookOptions {
  readonly fragment?: string;
  readonly mount?: MountOptions;
  readonly context?: BrowserContextOptions;
}

/** Serves the interface of receivers until the test is over, and opens its page at a view. */
export async function openLook(
  receivers: Operable | OperableByName,
  { context = {}, fragment = '', mount = {} }: LookOptions = {},
): Promise<Look> {
  const origin = await listenUntilTheEnd(toNodeOperator(receivers, { ...ada, ...mount }));
  return { ...(await openAt(`${origin}/operator/${fragment}`, context)), origin };
}

/** Opens the page at an address, as somebody who was never here, until the test is over. */
export async function openAt(
  url: string,
  context: BrowserContextOptions = {},
): Promise<Omit<Look, 'origin'>> {
  const opened = await (await sharedBrowser()).newContext(context);
  opened.setDefaultTimeout(WAIT_LIMIT_MS);
  onTestFinished(() => opened.close());
  const page = await opened.newPage();
  const faults: string[] = [];
  const asked: string[] = [];
  page.on('console', (message) => {
    // The browser reports each answer of 404 so: an event without a dead letter has one.
    const isAnswer = message.text().startsWith('Failed to load resource: the server responded');
    if (message.type() === 'error' && !isAnswer) faults.push(message.text());
  });
  page.on('pageerror', (error) => void faults.push(error.message));
  page.on('dialog', (dialog) => void faults.push(`a dialog: ${dialog.message()}`));
  page.on('request', (request) => void asked.push(request.url()));
  await page.goto(url);
  await settled(page);
  return { page, faults, asked, goTo: (next) => goTo(page, next) };
}

async function goTo(page: Page, fragment: string): Promise<void> {
  // The script of the page shows a view after this assignment, and only then it is marked as busy.
  await page.evaluate(`new Promise((resolve) => {
    const target = ${JSON.stringify(fragment)};
    addEventListener('hashchange', resolve, { once: true });
    if (location.hash === target) resolve();
    else location.hash = target;
  })`);
  await settled(page);
}

/** Waits until a view is there. After a step that shows another one, or this one anew: `afterShowing`. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main[aria-busy="false"]').waitFor();
}

/** Takes a step that shows a view, and waits for the view: the old one stays for a moment. */
export async function afterShowing(page: Page, step: () => Promise<unknown>): Promise<void> {
  await page.evaluate("document.querySelector('main h2').classList.add('old')");
  await step();
  await page.locator('main[aria-busy="false"]:not(:has(.old))').waitFor();
}

/** The element that has the focus, as a reader of the test knows it. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate(`(() => {
    const { ariaLabel, labels, tagName, textContent } = document.activeElement;
    return tagName + ' ' + (ariaLabel ?? labels?.[0]?.textContent ?? textContent).trim().slice(0, 60);
  })()`);

/** Nothing is wider than the window. */
export async function expectFits(page: Page, name: string): Promise<void> {
  const wider = await page.evaluate(`(() => {
    const root = document.documentElement;
    const dialog = document.querySelector('dialog[open]');
    const isWider = root.scrollWidth > innerWidth || (dialog && dialog.scrollWidth > dialog.clientWidth);
    if (!isWider) return [];
    const all = [...document.body.querySelectorAll('*')];
    const edge = dialog ? dialog.getBoundingClientRect().right : innerWidth;
    const isOver = (each) => each.getBoundingClientRect().right > edge && each.closest('.unseen') === null;
    return ['wider', ...all.filter(isOver).map((each) => each.outerHTML.slice(0, 120))];
  })()`);
  expect(wider, name).toEqual([]);
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A context in which axe can run. */
export const underAxe: BrowserContextOptions = { bypassCSP: true };

/** Requires that axe finds nothing. */
export async function expectAccessible(page: Page, name: string): Promise<void> {
  await page.evaluate(`globalThis.axe === undefined && (() => { ${axe} })()`);
  const { passes, violations } = await page.evaluate<{
    violations: { id: string; nodes: { html: string }[] }[];
    passes: unknown[];
  }>('axe.run()');
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  expect(found, name).toEqual([]);
  expect(passes.length, name).toBeGreaterThan(15);
}
