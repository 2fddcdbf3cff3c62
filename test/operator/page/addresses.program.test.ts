import { toNodeOperator } from 'posthorn/operator';
import { expect, test } from 'vitest';
import { listenUntilTheEnd } from '../../support/listen.ts';
import { ada } from '../mounts.ts';
import { createOperated, letter, record } from '../operated.ts';
import { press, told } from './dialog.ts';
import { openAt } from './looks.ts';

const ID = 'evt_secret';

test('the server sees an id only below api/, and no page of another site hears of one', async () => {
  const { receiver } = createOperated({ parked: [letter(1, { id: ID })], records: [record(1, { id: ID })] });
  const operator = toNodeOperator(receiver, ada);
  const seen: string[] = [];
  const referrers = new Set<string | undefined>();
  const origin = await listenUntilTheEnd((request, response) => {
    seen.push(request.url ?? '');
    referrers.add(request.headers.referer);
    operator(request, response);
  });
  const { asked, faults, goTo, page } = await openAt(`${origin}/operator/`);
  const views = [
    'dead-letters',
    `dead-letters/${ID}`,
    'events',
    `events/${ID}`,
    'deliveries',
    'health',
    'meanings',
  ];
  const links: string[] = [];
  for (const view of views) {
    await goTo(`#/${view}`);
    links.push(
      ...(await page.evaluate<string[]>(`[...document.querySelectorAll('[href], [src], [action]')]
      .map((each) => new URL(each.href ?? each.src ?? each.action, document.baseURI).href)`)),
    );
    await page.reload();
  }
  for (const list of ['events', 'dead-letters']) {
    await goTo(`#/${list}`);
    await page.getByRole('link', { name: 'transfer.succeeded' }).click();
    await page.getByRole('heading', { name: 'What happened' }).waitFor();
    await page.reload();
  }
  await press(page, 'Replay');
  await press(page, 'Replay 1');
  await told(page, 'Done: 1 processed.');
  expect(seen.filter((path) => path.includes(ID) && !path.startsWith('/operator/api/'))).toEqual([]);
  expect(seen).toContain(`/operator/api/dead-letters/${ID}`);
  // A browser leaves the fragment, which has the id, out of it.
  expect([...referrers].toSorted()).toEqual([`${origin}/operator/`, undefined]);
  expect([...links, ...asked].filter((url) => !url.startsWith(`${origin}/operator/`))).toEqual([]);
  expect(faults).toEqual([]);
});
