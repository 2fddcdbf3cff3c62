import type { RequestListener } from 'node:http';
import { createMemoryStore, type Store } from 'posthorn';
import { toNodeOperator } from 'posthorn/operator';
import { expect, test } from 'vitest';
import { listenUntilTheEnd } from '../../support/listen.ts';
import { silenced } from '../../support/silenced.ts';
import { throwing } from '../../support/throwing.ts';
import { ada, type MountOptions } from '../mounts.ts';
import { createOperated, idOf, letters, type Operated } from '../operated.ts';
import { press, told } from './dialog.ts';
import { openAt, settled } from './looks.ts';

interface Fault {
  readonly name: string;
  /** Answers in place of the interface. */
  readonly answer: RequestListener;
  readonly text: string;
}

const NOT_OURS = (status: number): string => `The answer, with status ${status}, is not from posthorn`;

const faults: readonly Fault[] = [
  {
    name: 'cuts the connection',
    answer: ({ socket }) => void socket.destroy(),
    text: 'The application does not answer.',
  },
  {
    name: 'answers 502 with HTML',
    answer: (_request, response) =>
      void response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad Gateway</h1>'),
    text: NOT_OURS(502),
  },
  {
    name: 'leads to a page to sign in',
    // As identity-aware proxies do, whose page is of another origin.
    answer: (_request, response) =>
      void response.writeHead(302, { location: 'https://sign-in.invalid/' }).end(),
    text: 'The answer, a redirect, is not from posthorn',
  },
  {
    name: 'cuts the answer',
    answer: ({ socket }, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"results"', () => socket.destroy());
    },
    text: NOT_OURS(200),
  },
  {
    name: 'does not know the operator any more',
    answer: (request, response) =>
      toNodeOperator(createOperated().receiver, { ...ada, authorize: () => undefined })(request, response),
    text: 'You may not do this, or the application could not tell who you are.',
  },
];

/** Opens the page of an interface, and can put something in the place of it. */
async function openBehind({ receiver }: Operated, mount: MountOptions = {}) {
  const operator = toNodeOperator(receiver, { ...ada, ...mount });
  let way: RequestListener = (request, response) => operator(request, response);
  const origin = await listenUntilTheEnd((request, response) => way(request, response));
  const { page } = await openAt(`${origin}/operator/`);
  return {
    page,
    turn: (next: RequestListener = (request, response) => operator(request, response)) => {
      way = next;
    },
  };
}

test.each(faults)('a deed goes on after something in between $name', async ({ answer, text }) => {
  const operated = createOperated({
    parked: letters(45),
    // The answer of the second portion is lost.
    handle: ({ id }) => {
      if (id === idOf(20)) turn(answer);
    },
  });
  const { page, turn } = await openBehind(operated);
  await press(page, 'Replay all that match…');
  await press(page, 'Replay 45');
  await told(page, text);
  await told(page, 'Stopped: 20 processed. 25 events left.');
  expect(operated.handled.toSorted()).toEqual(letters(20).map(({ id }) => id));
  turn();
  await press(page, 'Go on');
  await told(page, 'Done: 45 processed.');
  expect(operated.handled.toSorted()).toEqual(letters(45).map(({ id }) => id));
});

test.each(faults)('a view says that something in between $name, and comes back', async ({ answer, text }) => {
  const { page, turn } = await openBehind(createOperated({ parked: letters(1) }));
  turn(answer);
  await page.getByRole('link', { name: 'Health' }).click();
  await page.getByRole('heading', { name: 'It cannot be shown' }).waitFor();
  await page.getByText(text).waitFor();
  turn();
  await press(page, 'Try again');
  await page.getByText('1 is waiting').waitFor();
  await settled(page);
});

test('the page itself says that its first request failed, and comes back', async () => {
  const { page, turn } = await openBehind(createOperated({ parked: letters(1) }));
  turn((request, response) => {
    if (request.url?.includes('/api/')) request.socket.destroy();
    else toNodeOperator(createOperated().receiver, ada)(request, response);
  });
  await page.reload();
  await page.getByText('The application does not answer.').waitFor();
  await settled(page);
  turn();
  await press(page, 'Try again');
  await page.getByText('1 is waiting').waitFor();
});

test('a store that is away stops a deed, which goes on once it is back', async () => {
  const memory = createMemoryStore();
  const away = throwing('connection refused');
  let isAway = false;
  const store: Store = { ...memory, claim: (request) => (isAway ? away() : memory.claim(request)) };
  const operated = createOperated({
    parked: letters(30),
    store,
    handle: ({ id }) => {
      isAway = id === idOf(10);
    },
  });
  const { page } = await openBehind(operated);
  await press(page, 'Replay all that match…');
  await press(page, 'Replay 30');
  await told(page, 'store_unavailable');
  await told(page, 'Stopped: 10 processed. 20 events left.');
  isAway = false;
  await press(page, 'Go on');
  await told(page, 'Done: 30 processed.');
  expect(operated.handled.toSorted()).toEqual(letters(30).map(({ id }) => id));
});

test('nothing is done if audit fails, and the dialog says so', async () => {
  const operated = createOperated({ parked: letters(2) });
  const { page } = await openBehind(operated, { audit: throwing('no disk') });
  await press(page, 'Drop all that match…');
  await press(page, 'Drop 2');
  await told(page, 'nothing was done, because the option audit failed: no disk');
  await told(page, 'Stopped: nothing done yet. 2 events left.');
  expect(operated.left.size).toBe(2);
});

test('an event whose body cannot be masked is not shown', async () => {
  const operated = createOperated({ parked: letters(1) });
  silenced('error');
  const { page } = await openBehind(operated, { mask: throwing('a defect') });
  await page.getByRole('link', { name: 'transfer.succeeded' }).click();
  await page.getByText('the option mask failed: the log of the process says why').waitFor();
});
