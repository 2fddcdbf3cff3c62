import type { RequestListener } from 'node:http';
import Koa from 'koa';
import { createReceiver, type Receiver, type Report } from 'posthorn';
import { toExpress } from 'posthorn/express';
import { toKoa } from 'posthorn/koa';
import { toNode } from 'posthorn/node';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listenUntilTheEnd } from '../support/listen.ts';
import { usePrintedErrors } from '../support/printed-errors.ts';
import { KEY } from '../support/served.ts';
import { until } from '../support/until.ts';
import { expressVersions } from './mounts.ts';

/** Mounts receivers one after the other, each on a path of its own: `/webhooks/0`, `/webhooks/1`, … */
type MountAll = (receivers: readonly Receiver[]) => RequestListener;

const pathOf = (index: number): string => `/webhooks/${index}`;

/** Calls handlers of Node.js one after the other, and then `last`. */
function chain(receivers: readonly Receiver[], last: RequestListener | undefined): RequestListener {
  const handlers = receivers.map((receiver, index) => toNode(receiver, { path: pathOf(index) }));
  return (request, response) => {
    const call = (index: number): void => {
      const handle = handlers[index];
      const isLast = index === handlers.length - 1 && last === undefined;
      if (handle === undefined) last?.(request, response);
      else handle(request, response, isLast ? undefined : () => call(index + 1));
    };
    call(0);
  };
}

const notFound: RequestListener = (_request, response) => void response.writeHead(404).end();

const servers: [name: string, mountAll: MountAll][] = [
  ...expressVersions.map(([name, express]): [string, MountAll] => [
    name,
    (receivers) => {
      const app = express();
      for (const [index, receiver] of receivers.entries())
        app.use(toExpress(receiver, { path: pathOf(index) }));
      return app;
    },
  ]),
  [
    'koa',
    (receivers) => {
      const app = new Koa();
      for (const [index, receiver] of receivers.entries()) app.use(toKoa(receiver, { path: pathOf(index) }));
      return app.callback();
    },
  ],
  ['node, with an application behind', (receivers) => chain(receivers, notFound)],
  ['node, without next for the last', (receivers) => chain(receivers, undefined)],
];

/** The first four receivers want another header than the rest. */
const headerOf = (index: number): string => (index < 4 ? 'acme-signature' : 'x-service-signature');

/** Keeps the warnings of the process until the end of the test. */
function warnings(): readonly string[] {
  const seen: string[] = [];
  const add = ({ name }: Error): void => void seen.push(name);
  process.on('warning', add);
  onTestFinished(() => void process.off('warning', add));
  return seen;
}

/** Ten receivers that are mounted, and what each has reported. */
function tenReceivers(): { readonly receivers: readonly Receiver[]; readonly reports: readonly Report[][] } {
  const reports: Report[][] = [];
  const receivers = Array.from({ length: 10 }, (_, index) => {
    const seen: Report[] = [];
    reports.push(seen);
    const receiver = createReceiver({ signingKey: KEY, signatureHeader: headerOf(index) }).on('*', () => {});
    return receiver.observe((report) => seen.push(report), { keepDefaultLog: true });
  });
  return { receivers, reports };
}

/** Serves until the end of the test, and counts the listeners for the end of each answer. */
async function serve(listener: RequestListener) {
  const counts: number[] = [];
  const url = await listenUntilTheEnd((request, response) => {
    const index = counts.push(0) - 1;
    response.on('newListener', (name) => {
      if (name === 'finish') counts[index] = (counts[index] ?? 0) + 1;
    });
    listener(request, response);
  });
  const post = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${url}${path}`, { method: 'POST', headers, body: '{}' });
  return { url, counts, post };
}

const SIGNATURE = 'ab'.repeat(32);

describe.each(servers)('ten receivers mounted by path on %s', (_, mountAll) => {
  const { printed } = usePrintedErrors();

  test('print nothing about requests for other paths', async () => {
    const { receivers, reports } = tenReceivers();
    const seen = warnings();
    const { url, post } = await serve(mountAll(receivers));
    for (let sent = 0; sent < 50; sent += 1) {
      const headers: Record<string, string> = sent % 2 === 0 ? {} : { 'x-service-signature': 'guessed' };
      expect(await post('/login', headers)).toMatchObject({ status: 404 });
    }
    const page = await fetch(`${url}/login`, { headers: { 'x-service-signature': SIGNATURE } });
    expect(page.status, 'a page is not a delivery').toBe(404);
    expect([seen, printed(), reports.flat()]).toEqual([[], [], []]);
  });

  test('listen for the end of an answer once, and only if a signature was sent', async () => {
    const { counts, post } = await serve(mountAll(tenReceivers().receivers));
    await post('/login');
    await post('/login', { 'x-service-signature': SIGNATURE });
    const [unsigned = 0, signed = 0] = counts;
    expect(signed - unsigned).toBe(1);
  });

  test('report a misdirected delivery once, by the first of those whose header was sent', async () => {
    const { receivers, reports } = tenReceivers();
    const { post } = await serve(mountAll(receivers));
    await post('/other', { 'x-service-signature': SIGNATURE });
    await post('/other', { 'x-service-signature': SIGNATURE, 'acme-signature': SIGNATURE });
    await until('two reports', () => reports.flat().length >= 2);
    const messages = reports.map((one) => one.map(({ error }) => error?.message));
    expect(messages[0]).toEqual([
      expect.stringContaining('"/other", and this receiver serves "/webhooks/0"'),
    ]);
    expect(messages[4]).toEqual([
      expect.stringContaining('"/other", and this receiver serves "/webhooks/4"'),
    ]);
    expect(printed().filter((line) => line.includes('not_found'))).toHaveLength(2);
  });

  test('are all served', async () => {
    const { receivers } = tenReceivers();
    const { url } = await serve(mountAll(receivers));
    for (const index of receivers.keys()) {
      const signing = { key: KEY, signatureHeader: headerOf(index) };
      const answer = await deliver(`${url}${pathOf(index)}`, createEvent('transfer.succeeded'), signing);
      expect(answer.status).toBe(200);
    }
  });
});

test('a receiver that does not know hasSignature, as one in a wrapper, reports a misdirected delivery', async () => {
  const reports: Report[] = [];
  const receiver = createReceiver({ signingKey: KEY })
    .observe((report) => reports.push(report))
    .on('*', () => {});
  const mounted = {
    receive: receiver.receive.bind(receiver),
    reportMisdirected: receiver.reportMisdirected.bind(receiver),
  };
  const url = await listenUntilTheEnd(toNode(mounted, { path: '/webhooks' }));
  const headers = { 'x-service-signature': SIGNATURE };
  await fetch(`${url}/other`, { method: 'POST', headers, body: '{}' });
  await until('a report', () => reports.length === 1);
  expect(reports).toMatchObject([{ code: 'not_found' }]);
});

// A middleware of the application can put anything into the headers of a request.
describe.each(servers)('a symbol in rawHeaders on %s', (_, mountAll) => {
  const { printed } = usePrintedErrors();

  test.each([
    ['before the receivers', true],
    ['after them', false],
  ])('that was put there %s ends no process, and leaves the 404 and its report', async (_when, isBefore) => {
    const { receivers, reports } = tenReceivers();
    const mounted = mountAll(receivers);
    const url = await listenUntilTheEnd((request, response) => {
      const pollute = (): void =>
        Reflect.apply(request.rawHeaders.push, request.rawHeaders, ['x-time', Symbol()]);
      if (isBefore) pollute();
      mounted(request, response);
      pollute();
    });
    const headers = { 'x-service-signature': SIGNATURE };
    const answer = await fetch(`${url}/other`, { method: 'POST', headers, body: '{}' });
    expect(answer.status).toBe(404);
    await until('its report', () => reports.flat().length === 1);
    expect(printed().filter((line) => !/not_found|dead_letters_missing/.test(line))).toEqual([]);
  });
});
