import { describe, expect, test } from 'vitest';
import { openPage } from './opened-page.ts';
import { openSandbox } from './opened-sandbox.ts';

describe('the data of the form', () => {
  test('is a sample of the type until the reader edits it, and a new one for each event', async () => {
    const opened = await openSandbox();
    const { page, faults } = await openPage(opened.url);
    const data = page.getByLabel('Data');
    const type = page.getByLabel('Type', { exact: true });
    await expect.poll(() => data.inputValue()).toContain('"state": "SUCCEEDED"');
    await type.selectOption('dispute.lost');
    await expect.poll(() => data.inputValue()).toContain('"state": "LOST"');
    const first = await data.inputValue();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText(/^sent evt_/).waitFor();
    await expect.poll(() => data.inputValue()).not.toBe(first);
    await data.fill('{"id":"mine"}');
    await type.selectOption('dispute.won');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await expect.poll(() => page.locator('#events > li').count()).toBe(2);
    expect(JSON.parse(await data.inputValue())).toEqual({ id: 'mine' });
    // Its sample comes back when the field is left empty.
    await data.fill('');
    await data.blur();
    await expect.poll(() => data.inputValue()).toContain('"state": "WON"');
    expect(faults).toEqual([]);
  });

  test('is formatted when the field is left, without a change of any value', async () => {
    const { page } = await openPage((await openSandbox()).url);
    const data = page.getByLabel('Data');
    await expect.poll(() => data.inputValue()).not.toBe('');
    const text =
      '{"amount":10.00,"large":12345678901234567890,"text":"a \\"{[,:]}\\" b","none":[],"of":[1,{}]}';
    await data.fill(text);
    await data.blur();
    expect(await data.inputValue()).toBe(`{
  "amount": 10.00,
  "large": 12345678901234567890,
  "text": "a \\"{[,:]}\\" b",
  "none": [],
  "of": [
    1,
    {}
  ]
}`);
  });

  test('that is not JSON stays as it is, and the page says so', async () => {
    const { page } = await openPage((await openSandbox()).url);
    const data = page.getByLabel('Data');
    await data.fill('{"amount": 10,}');
    await data.blur();
    await page.getByText('The data is not JSON').waitFor();
    expect(await data.inputValue()).toBe('{"amount": 10,}');
    expect(await data.getAttribute('aria-invalid')).toBe('true');
    await data.fill('{"amount": 10}');
    await data.blur();
    await expect.poll(() => data.getAttribute('aria-invalid')).toBeNull();
    expect(await page.getByText('The data is not JSON').count()).toBe(0);
  });
});
