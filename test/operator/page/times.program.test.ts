import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { createOperated, idOf, letter, record } from '../operated.ts';
import { expectFits, openLook } from './looks.ts';

const SUMMER = Date.parse('2026-07-01T23:30:00Z');

const zones = [
  { timezoneId: 'America/New_York', locale: 'en-US', shown: 'Jul 1, 2026, 07:30:00 PM EDT' },
  { timezoneId: 'Asia/Kolkata', locale: 'en-GB', shown: '2 Jul 2026, 05:00:00 GMT+5:30' },
  { timezoneId: 'Europe/Berlin', locale: 'de-DE', shown: '2. Juli 2026, 01:30:00 MESZ' },
] as const;

test.each(zones)('times are those of $timezoneId, as in $locale', async ({ locale, shown, timezoneId }) => {
  const { receiver } = createOperated({ parked: [letter(1, { parkedAt: SUMMER })] });
  const { page } = await openLook(receiver, { context: { locale, timezoneId } });
  const time = page.locator('.list time');
  expect((await time.textContent())?.replaceAll('\u202f', ' ')).toBe(shown);
  expect(await time.getAttribute('datetime')).toBe('2026-07-01T23:30:00.000Z');
  expect(await time.getAttribute('title')).toMatch(/^(in )?\d+ days( ago)?, 2026-07-01T23:30:00\.000Z$/);
});

/** Letters around the end of summer time in New York, where 01:30 comes twice. */
const endOfSummer = [
  '2026-11-01T04:30:00Z', // 00:30 EDT
  '2026-11-01T05:30:00Z', // 01:30 EDT
  '2026-11-01T06:30:00Z', // 01:30 EST
  '2026-11-01T07:30:00Z', // 02:30 EST
].map((time, index) => letter(index + 1, { parkedAt: Date.parse(time) }));

describe('a filter by the local time', () => {
  const inNewYork = { context: { timezoneId: 'America/New_York', locale: 'en-US' } };
  const filter = (page: Page): Promise<void> =>
    page.getByRole('button', { name: 'Filter', exact: true }).click();
  const expectShown = (page: Page, ...ids: readonly string[]): Promise<void> =>
    expect.poll(() => page.locator('.list .id').allTextContents()).toEqual(ids);

  test('selects the instants of the zone, before and after the end of summer time', async () => {
    const { page } = await openLook(createOperated({ parked: endOfSummer }).receiver, inNewYork);
    await page.getByLabel('Parked since').fill('2026-11-01T02:00:00');
    await filter(page);
    await expect.poll(() => page.url()).toContain(`since=${Date.parse('2026-11-01T07:00:00Z')}`);
    await expectShown(page, idOf(4));
    await page.getByLabel('Parked since').fill('');
    await page.getByLabel('Parked until').fill('2026-11-01T01:00:00');
    await filter(page);
    await expect.poll(() => page.url()).not.toContain('since=');
    await expectShown(page, idOf(1));
  });

  test('leaves an instant of an address alone, which its local time may not name', async () => {
    const since = Date.parse('2026-11-01T06:30:00Z');
    const parked = endOfSummer.map((each) => ({ ...each, parkedAt: each.parkedAt + 1 }));
    const { page } = await openLook(createOperated({ parked }).receiver, {
      ...inNewYork,
      fragment: `#/dead-letters?since=${since + 1}`,
    });
    expect(await page.getByLabel('Parked since').inputValue()).toBe('2026-11-01T01:30');
    await page.getByLabel('Type').fill('transfer.*');
    await filter(page);
    await expect.poll(() => page.url()).toContain(`since=${since + 1}`);
    await expectShown(page, idOf(3), idOf(4));
  });

  test('shows the local time of an address, and gives back the same', async () => {
    const since = Date.parse('2026-06-01T12:34:56Z');
    const { page } = await openLook(createOperated({ parked: endOfSummer }).receiver, {
      context: { timezoneId: 'Asia/Kolkata' },
      fragment: `#/dead-letters?since=${since}`,
    });
    expect(await page.getByLabel('Parked since').inputValue()).toBe('2026-06-01T18:04:56');
    await page.getByLabel('Type').fill('transfer.*');
    await filter(page);
    await expect.poll(() => page.url()).toContain(`?type=transfer.*&since=${since}`);
  });
});

test('a time that is none is shown as a number, and breaks nothing', async () => {
  const times = { firstReceivedAt: 1e18, lastReceivedAt: -1e18, createdAt: 1e18, decidedAt: 0 };
  const { receiver } = createOperated({
    parked: [letter(1, { parkedAt: 1e18, receivedAt: -1e18, lastTriedAt: 1e18 }), letter(2)],
    records: [record(1, { ...times, deliveries: 2 })],
  });
  const { faults, goTo, page } = await openLook(receiver, { context: { timezoneId: 'Asia/Kolkata' } });
  await page.getByText(', parked 1000000000000000000').waitFor();
  expect(await page.locator('.list > li').count()).toBe(2);
  await goTo(`#/dead-letters/${idOf(1)}`);
  await page
    .getByText('The event was received -1000000000000000000, and parked 1000000000000000000.')
    .waitFor();
  await goTo('#/events');
  await goTo(`#/events/${idOf(1)}`);
  await page.getByText('It happened 1000000000000000000 and was first received').waitFor();
  await goTo('#/health');
  await page.getByText('2 are waiting').waitFor();

  // The earliest and the latest time that a browser knows, one beyond it, and none at all.
  for (const since of ['8640000000000000', '-8640000000000000', '1000000000000000000', 'x']) {
    await goTo(`#/dead-letters?since=${since}`);
    await expectFits(page, since);
    const problem = await page.locator('main .minor').first().textContent();
    if (since.length > 18 || since === 'x') expect(problem).toBe('request_invalid');
    else await page.getByLabel('Parked since').waitFor();
  }
  expect(faults).toEqual([]);
});
