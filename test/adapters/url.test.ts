import { readdirSync, readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { getRequestListener } from '@hono/node-server';
import express5 from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { createReceiver, PermanentError, type Report } from 'posthorn';
import { toExpress } from 'posthorn/express';
import { toFastify } from 'posthorn/fastify';
import { toFetch } from 'posthorn/fetch';
import { createFileDeadLetters } from 'posthorn/file';
import { toKoa } from 'posthorn/koa';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ListQueue } from '../receiver/queue/list-queue.ts';
import { listenUntilTheEnd } from '../support/listen.ts';
import { usePrintedErrors } from '../support/printed-errors.ts';
import { readAll } from '../support/read-all.ts';
import { KEY } from '../support/served.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import type { Mountable } from './endpoint.ts';
import { expressVersions, koa, listenOnFastify, mountOnNode } from './mounts.ts';
import { RawConnection } from './raw-connection.ts';
import { createUrlReceiver } from './url-receiver.ts';

/** Serves what `mount` returns, sends it a request for a target, and returns the url that arrived. */
async function urlOf(
  target: string,
  mount: (receiver: Mountable) => RequestListener | Promise<{ url: string; close: () => Promise<void> }>,
): Promise<string | undefined> {
  const { receiver, deliveries } = createUrlReceiver();
  const mounted = mount(receiver);
  const served = typeof mounted === 'function' ? { url: await listenUntilTheEnd(mounted) } : await mounted;
  if ('close' in served) onTestFinished(served.close);
  const connection = await RawConnection.open(served.url);
  connection.write(`POST ${target} HTTP/1.1\r\nhost: example.com\r\ncontent-length: 0\r\n\r\n`);
  expect((await connection.answer()).status).toBe(200);
  return deliveries[0]?.url;
}

const TARGET = '/hooks/m%2F17?token=a%2fb+c&token';

describe('a mount leaves the url whole:', () => {
  test.each(expressVersions)('a router in a router of %s', async (_, express) => {
    const inner = express.Router().use('/:merchant', (request, response) => void handle(request, response));
    let handle: ReturnType<typeof toExpress> = () => {};
    const mount = (receiver: Mountable) => {
      handle = toExpress(receiver);
      return express().use('/hooks', inner);
    };
    expect(await urlOf(TARGET, mount)).toBe(TARGET);
  });

  const mounts: readonly [string, Parameters<typeof urlOf>[1]][] = [
    ['Koa in Express', (receiver) => express5().use('/hooks', koa(toKoa(receiver)).callback())],
    [
      'a mount of Koa',
      (receiver) =>
        koa((context, next) => {
          context.path = '/';
          return next();
        }, toKoa(receiver)).callback(),
    ],
    [
      'a prefix of Fastify',
      (receiver) => {
        const hooks = toFastify(receiver, { path: '/m%2F17' });
        return listenOnFastify(fastify().register(hooks, { prefix: '/hooks' }));
      },
    ],
    [
      'rewriteUrl of Fastify',
      (receiver) => {
        const app = fastify({ rewriteUrl: () => '/other' });
        return listenOnFastify(app.register(toFastify(receiver, { path: '/other' })));
      },
    ],
    [
      'a route of Hono',
      (receiver) => {
        const inner = new Hono().all('/:merchant', (context) => toFetch(receiver)(context.req.raw, context));
        return getRequestListener(new Hono().route('/hooks', inner).fetch);
      },
    ],
    [
      'a mount of Hono that does not replace the request',
      (receiver) =>
        getRequestListener(new Hono().mount('/hooks', toFetch(receiver), { replaceRequest: false }).fetch),
    ],
  ];
  test.each(mounts)('%s', async (_, mount) => {
    expect(await urlOf(TARGET, mount)).toBe(TARGET);
  });
});

describe('the url has neither scheme nor host:', () => {
  test.each([
    ['//evil.example/a?b', '//evil.example/a?b'],
    ['HTTP://user:word@evil.example:1//a?b=http://c/', '//a?b=http://c/'],
    ['http://evil.example?a', '/?a'],
    ['https://evil.example', '/'],
  ])('a target of %s on Node.js', async (target, url) => {
    expect(await urlOf(target, mountOnNode)).toBe(url);
  });

  test.each([
    ['https://example.com//a/%41?b=http://c/#d', '//a/%41?b=http://c/'],
    ['https://example.com?', '/?'],
    ['https://example.com', '/'],
  ])('a web request for %s', async (address, url) => {
    const { receiver, deliveries } = createUrlReceiver();
    await toFetch(receiver)(new Request(address, { method: 'POST' }));
    expect(deliveries[0]?.url).toBe(url);
  });
});

const { printed } = usePrintedErrors();

test('the url is in no line of the default log, report, answer, dead letter or job', async () => {
  const directory = temporaryDirectory();
  const deadLetters = createFileDeadLetters(directory);
  const queue = new ListQueue();
  const reports: Report[] = [];
  const receiver = createReceiver({ signingKey: KEY, deadLetters, queue })
    .on('transfer.succeeded', () => Promise.reject(new Error('no booking')))
    .on('transfer.failed', () => Promise.reject(new PermanentError('never')))
    .on('dispute.won', () => {}, { name: 'book', queue: true })
    .observe((report) => reports.push(report), { keepDefaultLog: true });
  const origin = await listenUntilTheEnd(express5().use('/hooks', toExpress(receiver)));
  const url = `${origin}/hooks/path-secret?token=query-secret`;
  const events = (['transfer.succeeded', 'transfer.failed', 'dispute.won'] as const).map((type) =>
    createEvent(type),
  );
  const answers = await Promise.all(events.map((event) => deliver(url, event, { key: KEY })));
  answers.push(await deliver(url, createEvent('dispute.won'), { key: 'forged' }));
  expect(answers.map(({ status }) => status)).toEqual([500, 200, 202, 403]);

  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
  const letters = await readAll(deadLetters.list());
  expect([letters.length, files.length > 0, queue.jobs.length, reports.length]).toEqual([1, true, 1, 4]);
  expect(printed().length).toBeGreaterThanOrEqual(3);
  const bodies = await Promise.all(answers.map((answer) => answer.text()));
  const everything = inspect(
    {
      answers: answers.map(({ headers }) => [...headers]),
      bodies,
      files,
      letters,
      jobs: queue.jobs,
      reports,
      printed: printed(),
    },
    { depth: 20, showHidden: true, maxStringLength: null },
  );
  expect(everything).toContain(events[0]?.id);
  expect(everything).not.toMatch(/path-secret|query-secret/);
});

test.each([
  {
    name: 'throws it',
    account: ({ url }: { url: string }): string => {
      throw new Error(url);
    },
  },
  { name: 'finds none in it', account: () => undefined },
])('the url is in no line of the default log and in no answer, if account() $name', async ({ account }) => {
  const receiver = createReceiver({ signingKey: KEY, account }).on('*', () => {});
  const origin = await listenUntilTheEnd(express5().use('/hooks', toExpress(receiver)));
  const url = `${origin}/hooks/path-secret?token=query-secret`;
  const answer = await deliver(url, createEvent('dispute.won'), { key: KEY });
  expect(answer.status).toBe(404);
  const told = [...printed(), ...answer.headers, await answer.text()].join('\n');
  expect(told).toContain('account_unknown');
  expect(printed().length).toBeGreaterThan(0);
  expect(told).not.toMatch(/path-secret|query-secret/);
});
