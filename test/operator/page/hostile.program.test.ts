import { expect, test } from 'vitest';
import { createOperated, letter, NOW, record } from '../operated.ts';
import { deliver } from '../sent.ts';
import { openLook, settled } from './looks.ts';

/** Texts that a page could take for something else. */
const hostile = [
  '<img src=x onerror=alert(1)>',
  '</pre><script>alert(1)</script>',
  '"><svg/onload=alert(1)>',
  'javascript:alert(1)',
  '__proto__',
  'constructor',
  'a/../b',
  '#/health',
  '?receiver=other&after=x',
  '%2e%2e%2f%00%',
  '//example.com/x',
  String.raw`\\example.com\x`,
  '\u202Eevil\u202C',
  'zero\u200Bwidth\uFEFF',
  'a\nb\tc\u0000d',
  `'"\`\${alert(1)}`,
  ' ',
  '😀é',
  'x'.repeat(500),
] as const;

/** No place in the path of an address has these names. */
const withoutAddress = ['.', '..', 'half \ud800', '\udc00'] as const;

const shown = (text: string): string => JSON.stringify(text.slice(0, 40));

/** A blank type is nothing that a reader could press. */
const named = (id: string, otherwise = 'unreadable event'): string => (id === ' ' ? otherwise : id);

function hostileLetter(id: string, n: number) {
  const body = { [id]: id, list: [id], nested: { [id]: { [id]: 1 } } };
  return letter(n, {
    id,
    type: id,
    message: id,
    reason: id,
    account: id,
    handled: [id],
    rawBody: Buffer.from(JSON.stringify(body)),
    headers: { [id]: [id] },
  });
}

const parked = [...hostile, ...withoutAddress].map(hostileLetter);
const records = parked.map(({ id }, n) =>
  record(n, { id, type: id, outcome: 'parked', code: id, resource: id, account: id, handled: [id] }),
);

test('hostile text is shown as text in lists, and their links lead to what they name', async () => {
  const { receiver } = createOperated({ parked, records });
  const { asked, faults, goTo, origin, page } = await openLook(receiver);
  for (const id of hostile) await deliver(receiver, id);
  for (const view of ['dead-letters', 'events']) {
    await goTo(`#/${view}`);
    const names = await page.locator('.list .line a').allTextContents();
    expect(names.slice(0, hostile.length)).toEqual(hostile.map((id) => named(id)));
    const links = await page.evaluate<string[]>(
      "[...document.querySelectorAll('.list .line a')].map(({ hash }) => hash)",
    );
    for (const [index, id] of hostile.entries()) {
      await goTo(links[index] ?? '');
      expect(await page.locator('h2').textContent(), shown(id)).toBe(named(id, 'An unreadable event'));
      const fact = page.locator('.facts div', { has: page.locator('dt:text-is("Id")') }).locator('dd');
      expect(await fact.textContent(), shown(id)).toBe(id);
    }
  }
  await goTo('#/deliveries');
  expect(await page.locator('.list .id').allTextContents()).toEqual(hostile.toReversed());

  expect(await page.locator('main img, main script, main svg').count()).toBe(0);
  expect(asked.filter((address) => !address.startsWith(`${origin}/operator/`))).toEqual([]);
  expect(faults).toEqual([]);
});

test('hostile text is shown as text in a letter, with its body and headers', async () => {
  const { receiver } = createOperated({ parked });
  const { faults, goTo, page } = await openLook(receiver);
  for (const id of hostile) {
    await goTo('#/health');
    await goTo(`#/dead-letters/${encodeURIComponent(id)}`);
    expect(await page.locator('section pre').first().textContent(), shown(id)).toBe(id);
    expect(await page.locator('section pre').last().textContent(), shown(id)).toBe(`${id}: ${id}`);
    expect(await page.locator('.tree .leaf').first().textContent(), shown(id)).toBe(
      `${JSON.stringify(id)}: ${JSON.stringify(id)}`,
    );
    await page.getByText(`Finished: `).waitFor();
  }
  expect(await page.locator('main img, main script, main svg').count()).toBe(0);
  expect(faults).toEqual([]);
});

test('an id without an address of its own is named so, and replayed by its check box', async () => {
  const ids = [...withoutAddress];
  const parkedNow = ids.map((id, n) => ({ ...letter(n, { id }), receivedAt: NOW }));
  const { left, receiver } = createOperated({ parked: parkedNow, records });
  const { faults, page, goTo } = await openLook(receiver);
  const list = page.locator('.list > li');
  for (const view of ['dead-letters', 'events'])
    for (const id of ['.', '..']) {
      await goTo(`#/${view}/${id}`);
      await page.getByText('has no address of its own').waitFor();
    }
  await goTo('#/dead-letters');
  for (let index = 0; index < ids.length; index += 1) {
    await goTo('#/dead-letters');
    await list.nth(index).locator('.line a').click();
    await page.getByText(/^(It cannot be shown|No dead letter)$/).waitFor();
    await settled(page);
  }
  await goTo('#/dead-letters');
  for (const box of await list.getByRole('checkbox').all()) await box.check();
  await page.getByRole('button', { name: 'Drop 4 chosen' }).click();
  await page.getByRole('button', { name: 'Drop 4', exact: true }).click();
  await page.getByText('Done: 4 dropped.').waitFor();
  expect(left.size).toBe(0);
  expect(faults).toEqual([]);
});

test('each hostile id is replayed by its check box', async () => {
  const ids = hostile.filter((id) => id.length < 200);
  const { handled, left, receiver } = createOperated({ parked: ids.map((id, n) => letter(n, { id })) });
  const { faults, page } = await openLook(receiver);
  await page.getByText('All of this page').click();
  await page.getByRole('button', { name: `Replay ${ids.length} chosen` }).click();
  await page.getByRole('button', { name: `Replay ${ids.length}`, exact: true }).click();
  await page.getByText(`Done: ${ids.length} processed.`).waitFor();
  expect(handled).toEqual(ids);
  expect(left.size).toBe(0);
  expect(faults).toEqual([]);
});

test('hostile handler and receiver names are text, and choose what they name', async () => {
  const records = [record(1, { handled: [...hostile] })];
  const names = hostile.filter((name) => name !== '__proto__' && name.trim() !== '');
  const receivers = Object.fromEntries(
    names.map((name, index) => [
      name,
      createOperated({ parked: [letter(1, { message: `of receiver ${index}` })], records }).receiver,
    ]),
  );
  const { faults, goTo, page } = await openLook(receivers);
  const select = page.locator('#receiver');
  const options = await page.evaluate(
    "[...document.querySelectorAll('#receiver option')].map(({ value }) => value)",
  );
  expect(options).toEqual(Object.keys(receivers));
  for (const [index, name] of names.entries()) {
    await select.selectOption(name);
    await page.getByText(`of receiver ${index}`, { exact: true }).waitFor();
    await settled(page);
    expect(new URLSearchParams(page.url().split('?').at(-1)).get('receiver'), shown(name)).toBe(name);
  }
  await goTo('#/events');
  await page.getByRole('button', { name: 'Rerun all that match…' }).click();
  const handlers = await page.evaluate(
    "[...document.querySelectorAll('dialog fieldset input')].map(({ value }) => value)",
  );
  expect(handlers).toEqual([...hostile].sort());
  expect(await page.locator('img, main script, dialog script, svg').count()).toBe(0);
  expect(faults).toEqual([]);
});
