import { runInNewContext } from 'node:vm';
import { createReceiver, type Report } from 'posthorn';
import { createClient } from 'posthorn/client';
import { toNode } from 'posthorn/node';
import { createEvent, deliver } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { listenUntilTheEnd } from '../../support/listen.ts';
import { receiverWithReports } from '../../support/receiver-with-reports.ts';
import { KEY } from '../../support/served.ts';

// The environment jsdom of Vitest and Jest replaces the classes of the global object, and Jest runs tests in
// a realm of its own.

const bytesOf = (text: string): Uint8Array =>
  runInNewContext('Uint8Array.from(bytes)', { bytes: Buffer.from(text) });
const body = JSON.stringify(createEvent('transfer.succeeded'));
const bytes = bytesOf(body);

test('bytes of another realm are bytes: as a key, as the event of deliver, and as a kept raw body', async () => {
  expect(bytes).not.toBeInstanceOf(Uint8Array);
  const key = bytesOf(KEY);
  const receiver = createReceiver({ signingKey: [key] })
    .on('*', () => {})
    .observe(() => {});
  expect(await deliver(receiver, bytes, { key })).toMatchObject({ status: 200 });
  expect(() => createReceiver({ signingKey: bytesOf('') })).toThrow(/got an empty one$/);
  for (const member of ['rawBody', 'body']) {
    const { receiver } = receiverWithReports();
    const handle = toNode(receiver);
    const url = await listenUntilTheEnd((request, response) => {
      request.resume().once('end', () => handle(Object.assign(request, { [member]: bytes }), response));
    });
    expect(await deliver(url, bytes, { key: KEY })).toMatchObject({ status: 200 });
  }
});

test('a job with bytes of another realm is dispatched under a signal of another realm', async () => {
  const queue = { add: async () => {}, close: async () => {} };
  const receiver = createReceiver({ signingKey: KEY, queue }).observe(() => {});
  receiver.on('*', () => {}, { name: 'book', queue: true });
  const job = { rawBody: bytes, headers: {}, receivedAt: Date.now(), handled: [], handlers: ['book'] };
  const signal: AbortSignal = runInNewContext(
    '({ aborted: false, addEventListener() {}, removeEventListener() {} })',
  );
  const options = { attempt: 1, final: false, signal };
  expect(await receiver.dispatch(job, options)).toMatchObject({ outcome: 'processed' });
  const reason = new Error('enough');
  const aborted: AbortSignal = Object.assign(signal, {
    aborted: true,
    reason,
    throwIfAborted: () => {
      throw reason;
    },
  });
  const client = createClient({
    baseUrl: 'http://127.0.0.1:1',
    administrator: { username: 'a', password: 'b' },
  });
  await expect(client.webhooks.list({}, { signal: aborted })).rejects.toBe(reason);
});

test('an error of another realm is told as an error of this one', async () => {
  const reports: Report[] = [];
  const receiver = createReceiver({ signingKey: KEY }).observe((report) => reports.push(report));
  receiver.on('*', () => {
    throw runInNewContext('new TypeError("from elsewhere")');
  });
  await deliver(receiver, body, { key: KEY });
  expect(reports[0]?.error?.message).toContain('from elsewhere');
});
