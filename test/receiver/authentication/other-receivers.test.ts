import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import express from 'express';
import { createReceiver, type Key, type Report } from 'posthorn';
import { toExpress } from 'posthorn/express';
import { stripe } from 'posthorn/providers';
import { createEvent, deliver, signedHeaders } from 'posthorn/testing';
import { expect, test, vi } from 'vitest';
import { listenUntilTheEnd } from '../../support/listen.ts';
import { forwardedClock } from '../../support/monotonic-clock.ts';
import { usePrintedErrors } from '../../support/printed-errors.ts';
import { receiverWithReports } from '../../support/receiver-with-reports.ts';
import { serve } from '../../support/served.ts';

const { printed } = usePrintedErrors();

const advice = '; another receiver of this process has the key: mount each on its own path';

/** A key that no other test has. */
let keys = 0;
const newKey = (): string => `key ${++keys} of the other receivers`;

/** Sends events that were signed with a key; resolves with the texts of the answers. */
async function answersOf(url: string, key: Key, count = 1): Promise<string[]> {
  const answers: string[] = [];
  for (let sent = 0; sent < count; sent += 1) {
    answers.push(await (await deliver(url, createEvent('transfer.created'), { key })).text());
  }
  return answers;
}

const advised = (reports: readonly Report[]): boolean[] =>
  reports.map(({ error }) => error?.message.endsWith(advice) ?? false);

test('two receivers on one path: the report of the first says that the other has the key, its answer does not', async () => {
  const key = newKey();
  const first = receiverWithReports();
  const second = receiverWithReports({ signingKey: ['another', key] });
  const app = express();
  app.use(toExpress(first.receiver, { path: '/webhooks' }));
  app.use(toExpress(second.receiver, { path: '/webhooks' }));
  const url = `${await listenUntilTheEnd(app)}/webhooks`;
  const [answer] = await answersOf(url, key);
  expect(advised(first.reports)).toEqual([true]);
  expect(first.reports).toMatchObject([{ outcome: 'rejected', code: 'signature_mismatch' }]);
  expect(answer).toContain('"code":"signature_mismatch"');
  expect(answer).not.toMatch(/receiver|process/);
  expect(second.reports).toEqual([]);
});

test('the wrong receiver: its log says so', async () => {
  const key = newKey();
  const { receiver: right } = receiverWithReports({ signingKey: key });
  const url = await serve(createReceiver({ signingKey: newKey() }).on('*', () => {}));
  await answersOf(url, key);
  expect(printed()).toContainEqual(expect.stringContaining(advice));
  await answersOf(await serve(right), key);
});

test('a stranger, and a changed body, are not advised', async () => {
  const forward = forwardedClock();
  const key = newKey();
  const other = receiverWithReports({ signingKey: key });
  const { receiver, reports } = receiverWithReports();
  const url = await serve(receiver);
  await answersOf(url, 'the key of a stranger');
  forward(10_000);
  const body = JSON.stringify(createEvent('transfer.created'));
  await fetch(url, { method: 'POST', body: `${body} `, headers: signedHeaders(body, { key }) });
  expect(advised(reports)).toEqual([false, false]);
  await answersOf(await serve(other.receiver), key);
  expect(other.reports).toMatchObject([{ outcome: 'processed' }]);
});

test('a function that returns the key of another receiver is not asked', async () => {
  const key = newKey();
  const signingKey = vi.fn(() => key);
  const { receiver: other } = receiverWithReports({ signingKey });
  const { receiver, reports } = receiverWithReports();
  await answersOf(await serve(receiver), key);
  expect(advised(reports)).toEqual([false]);
  expect(signingKey).not.toHaveBeenCalled();
  await answersOf(await serve(other), key);
  expect(signingKey).toHaveBeenCalledOnce();
});

test('a receiver whose own key comes from a function is advised too', async () => {
  const key = newKey();
  const { receiver: right } = receiverWithReports({ signingKey: key });
  const { receiver, reports } = receiverWithReports({ signingKey: () => newKey() });
  await answersOf(await serve(receiver), key);
  expect(advised(reports)).toEqual([true]);
  await answersOf(await serve(right), key);
});

test('the others are searched at one wrong signature in ten seconds, whoever sends it', async () => {
  const forward = forwardedClock();
  const key = newKey();
  const { receiver: right } = receiverWithReports({ signingKey: key });
  const { receiver, reports } = receiverWithReports();
  const url = await serve(receiver);
  await answersOf(url, 'the key of a stranger');
  await answersOf(url, key, 2);
  forward(10_000);
  await answersOf(url, key, 2);
  expect(advised(reports)).toEqual([false, false, false, true, false]);
  await answersOf(await serve(right), key);
});

test('the ten receivers that were created last are searched', async () => {
  const forward = forwardedClock();
  const made = Array.from({ length: 11 }, newKey).map((key) => ({
    key,
    ...receiverWithReports({ signingKey: key }),
  }));
  const searching = made.at(-1);
  const url = await serve(searching?.receiver ?? expect.fail('there is none'));
  for (const { key } of made.slice(0, 2)) {
    await answersOf(url, key);
    forward(10_000);
  }
  expect(advised(searching?.reports ?? [])).toEqual([false, true]);
  expect(made.slice(0, -1).flatMap(({ reports }) => reports)).toEqual([]);
});

test('a receiver that nobody uses any more is forgotten', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc');
  const key = newKey();
  const create = () => new WeakRef(receiverWithReports({ signingKey: key }).receiver);
  const dropped = create();
  await expect
    .poll(() => {
      collectGarbage();
      return dropped.deref() === undefined;
    })
    .toBe(true);
  const { receiver, reports } = receiverWithReports();
  await answersOf(await serve(receiver), key);
  expect(advised(reports)).toEqual([false]);
});

test('a request of another sender: the report names the provider of its receiver once in ten seconds, the answer never', async () => {
  const forward = forwardedClock();
  const [first, others] = [
    receiverWithReports(),
    receiverWithReports({ provider: stripe(), signingKey: () => newKey() }),
  ];
  const url = await serve(first.receiver);
  const headers = { 'stripe-signature': `t=1,v1=${'0'.repeat(64)}` };
  const send = async (sent: Record<string, string>) =>
    (await fetch(url, { method: 'POST', body: '{}', headers: sent })).text();
  const answers = [await send(headers), await send(headers)];
  forward(10_000);
  answers.push(await send({ 'stripe-signature': 'none' }));
  const named = /; the request has a signature of "stripe", whose receiver this process has too: mount each/;
  expect(first.reports.map(({ code, error }) => [code, named.test(error?.message ?? '')])).toEqual(
    [true, false, false].map((isNamed) => ['signature_missing', isNamed]),
  );
  expect(answers.join()).not.toMatch(/stripe|process/);
  expect(others.reports).toEqual([]);
});
