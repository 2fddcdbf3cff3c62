import { toNodeOperator } from 'posthorn/operator';
import { expect, test } from 'vitest';
import { listenUntilTheEnd } from '../../support/listen.ts';
import { ada } from '../mounts.ts';
import { createOperated, idOf, letters, type Operated } from '../operated.ts';
import { press, told } from './dialog.ts';
import { openAt } from './looks.ts';

const SIGN_IN = 'You may not do this, or the application could not tell who you are.';

/** Serves the interface to those who have a session, which they get at /sign-in. */
async function serveWithSessions({ receiver }: Operated) {
  const sessions = new Set<string>();
  let given = 0;
  const operator = toNodeOperator(receiver, {
    ...ada,
    authorize: ({ headers }) => (sessions.has(headers.get('cookie') ?? '') ? ada.authorize() : undefined),
  });
  const origin = await listenUntilTheEnd((request, response) => {
    if (request.url !== '/sign-in') return void operator(request, response);
    given += 1;
    sessions.add(`session=${given}`);
    response.setHeader('set-cookie', `session=${given}; Path=/; HttpOnly`).end('Welcome');
  });
  sessions.add('session=0');
  const cookie = { name: 'session', value: '0', domain: '127.0.0.1', path: '/', expires: -1 };
  const flags = { httpOnly: true, secure: false, sameSite: 'Lax' } as const;
  return { origin, sessions, storageState: { cookies: [{ ...cookie, ...flags }], origins: [] } };
}

test('a session that ends in a deed is said, and the deed goes on after a new sign-in in another tab', async () => {
  const operated = createOperated({
    parked: letters(45),
    handle: ({ id }) => {
      if (id === idOf(20)) sessions.clear();
    },
  });
  const { origin, sessions, storageState } = await serveWithSessions(operated);
  const { page } = await openAt(`${origin}/operator/`, { storageState });
  await press(page, 'Replay all that match…');
  await press(page, 'Replay 45');
  await told(page, SIGN_IN);
  await told(page, 'Stopped: 20 processed. 25 events left.');
  const tab = await page.context().newPage();
  await tab.goto(`${origin}/sign-in`);
  await press(page, 'Go on');
  await told(page, 'Done: 45 processed.');
  expect(operated.handled.toSorted()).toEqual(letters(45).map(({ id }) => id));
  await tab.goto(`${origin}/operator/`);
  await tab.locator('.empty').waitFor();
});
