import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { createOperated, idOf, letter } from '../operated.ts';
import { type Look, openLook } from './looks.ts';

const MEBIBYTE = 1_048_576;

async function openBody(body: string): Promise<Look> {
  const { receiver } = createOperated({ parked: [letter(1, { rawBody: Buffer.from(body) })] });
  return openLook(receiver, { fragment: `#/dead-letters/${idOf(1)}` });
}

const leaves = (page: Page): Promise<string[]> => page.locator('.tree .leaf').allTextContents();
const press = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole('button', { name }).click();

/** A script that is busy, or a document that is large, would let none of these through. */
async function expectUsable({ faults, goTo, page }: Look): Promise<void> {
  await goTo('#/health');
  await page.getByText('Events that run now').waitFor();
  expect(faults).toEqual([]);
}

test('values are shown as they were sent', async () => {
  const body = [
    '{"price":10.00,"id":12345678901234567890,"tiny":1e-400,"zero":-0,"":"empty","a":1,"a":2',
    ',"__proto__":{"x":1},"constructor":"c","no":null,"yes":true,"line":"a\\nb\\u0000","2":"two","none":{},"list":[]}',
  ].join('');
  const { faults, page } = await openBody(body);
  expect((await leaves(page)).toSorted()).toEqual(
    [
      '"price": 10.00',
      '"id": 12345678901234567890',
      '"tiny": 1e-400',
      '"zero": -0',
      '"": "empty"',
      '"a": 2',
      '"constructor": "c"',
      '"no": null',
      '"yes": true',
      String.raw`"line": "a\nb\u0000"`,
      '"2": "two"',
      '"none": {}',
      '"list": []',
    ].toSorted(),
  );
  await page.getByText('"__proto__": 1 member').click();
  await page.getByText('"x": 1').waitFor();
  // The tree has the last of two equal keys, as a program that reads it has.
  await page.getByText(`As it was sent, ${body.length} characters`).click();
  expect(await page.locator('pre', { hasText: '"price"' }).textContent()).toBe(body);
  expect(faults).toEqual([]);
});

test.each([
  { name: 'a text', body: '"only a text"', leaf: '"only a text"' },
  { name: 'a number', body: '1.50', leaf: '1.50' },
  { name: 'null', body: 'null', leaf: 'null' },
])('a body that is $name is a tree of one leaf', async ({ body, leaf }) => {
  const { page } = await openBody(body);
  expect(await leaves(page)).toEqual([leaf]);
});

test.each([
  { name: 'is not JSON', body: 'a=1&b=<b>2</b>' },
  { name: 'is empty', body: '' },
  { name: 'has a hundred thousand brackets', body: '['.repeat(100_000) + ']'.repeat(100_000) },
])('a body that $name is shown as text', async ({ body }) => {
  const look = await openBody(body);
  const { page } = look;
  await page.getByText('The body is not JSON, or too deep for a tree.').waitFor();
  const text = page.locator('section', { hasText: 'The body is not JSON' }).locator('pre');
  expect(await text.textContent()).toBe(body.slice(0, 50_000));
  if (body.length > 50_000) {
    await press(page, `Show all ${body.length} characters`);
    expect(await text.textContent()).toBe(body);
  }
  await expectUsable(look);
});

test('a deep body is opened step by step', async () => {
  const depth = 500;
  const look = await openBody(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
  const { page } = look;
  const steps = page.locator('.tree summary');
  // Each step shows the next one, a little after the click: a browser tells later that something was opened.
  for (let opened = 1; opened < 12; opened += 1) await steps.nth(opened).click();
  await steps.nth(12).waitFor();
  expect(await steps.count()).toBe(13);
  await expectUsable(look);
});

describe('a body of 8 MB', () => {
  test('of one long text shows its beginning, and all of it on a click', async () => {
    const body = JSON.stringify({ id: 'evt', text: 'é'.repeat(4 * MEBIBYTE) });
    const look = await openBody(body);
    const { page } = look;
    const [id, text = ''] = await leaves(page);
    expect(id).toBe('"id": "evt"');
    expect(text).toMatch(/^"text": "é{49999}… 4194306 characters$/);
    await page.getByText(`As it was sent, ${body.length} characters`).click();
    await press(page, `Show all ${body.length} characters`);
    expect(await page.evaluate("document.querySelector('main pre:focus').textContent.length")).toBe(
      body.length,
    );
    await expectUsable(look);
  });

  test('of many values shows a hundred at first, and a hundred more by each click', async () => {
    const count = MEBIBYTE;
    const body = `[${'1234567,'.repeat(count - 1)}1234567]`;
    const look = await openBody(body);
    const { page } = look;
    expect((await leaves(page)).length).toBe(100);
    await press(page, `Show more of the ${count - 100} that follow`);
    await press(page, `Show more of the ${count - 200} that follow`);
    expect((await leaves(page)).length).toBe(300);
    expect((await leaves(page)).at(-1)).toBe('299: 1234567');
    await expectUsable(look);
  });

  test('of many objects opens each alone', async () => {
    const count = 80_000;
    const item = JSON.stringify({ id: 'x'.repeat(60), amount: 1, tags: ['a'] });
    const look = await openBody(`{"items":[${`${item},`.repeat(count - 1)}${item}]}`);
    const { page } = look;
    await page.getByText(`"items": ${count} in a list`).click();
    await page.getByText('99: 3 members').click();
    await page.getByText('"amount": 1').waitFor();
    expect(await leaves(page)).toEqual([`"id": "${'x'.repeat(60)}"`, '"amount": 1']);
    await expectUsable(look);
  });
});
