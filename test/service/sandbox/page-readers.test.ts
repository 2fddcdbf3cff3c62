import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { createSandbox, type Sandbox } from 'posthorn/sandbox';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listenUntilTheEnd } from '../../support/listen.ts';
import { until } from '../../support/until.ts';
import { callTo, createWebhook } from './opened-sandbox.ts';
import { record } from './recording-endpoint.ts';

const MOST_READERS = 50;
const MOST_BYTES = 33_554_432;

/** A sandbox on a server of the test, which sees the responses of its streams. */
async function serve(): Promise<{ sandbox: Sandbox; url: string; responses: readonly ServerResponse[] }> {
  const sandbox = createSandbox({ clock: 'manual' });
  const responses: ServerResponse[] = [];
  onTestFinished(() => sandbox.close());
  const url = await listenUntilTheEnd((request, response) => {
    if (request.url === '/sandbox/stream') responses.push(response);
    sandbox.app(request, response);
  });
  return { sandbox, url, responses };
}

/** Has the sandbox make attempts whose first message is some megabytes long. */
async function fill({ sandbox, url }: { readonly sandbox: Sandbox; readonly url: string }): Promise<void> {
  const endpoint = await record((response) => void response.writeHead(200).end('y'.repeat(20_000)));
  await createWebhook({ call: callTo(url) }, `{"url":"${endpoint.url}"}`);
  for (let count = 0; count < 200; count += 1) {
    sandbox.send({ type: 'transfer.succeeded', data: { long: 'x'.repeat(20_000) } });
  }
  await sandbox.settled();
}

/** Asks for the stream, as often as told on one connection, and reads nothing. */
async function openSilently(url: string, requests = 1): Promise<Socket> {
  const { port, host } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.pause().on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(`GET /sandbox/stream HTTP/1.1\r\nhost: ${host}\r\n\r\n`.repeat(requests));
  return socket;
}

/** Reads the stream until the test is over. */
async function openReading(url: string): Promise<{ readonly status: number; readonly text: () => string }> {
  const response = await fetch(`${url}/sandbox/stream`);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  onTestFinished(async () => void (await reader?.cancel().catch(() => {})));
  let text = '';
  const read = async (): Promise<void> => {
    for (;;) {
      const { done, value = '' } = (await reader?.read()) ?? { done: true };
      if (done) return;
      text += value;
    }
  };
  read().catch(() => {});
  return { status: response.status, text: () => text };
}

const bytesOf = (responses: readonly ServerResponse[]): number =>
  responses.reduce((sum, { destroyed, writableLength }) => sum + (destroyed ? 0 : writableLength), 0);

describe('readers of the stream of the page', () => {
  test('that do not read are dropped, and one that reads goes on', { timeout: 120_000 }, async () => {
    const served = await serve();
    await fill(served);
    const page = await openReading(served.url);
    await until('the first message', () => page.text().includes('\n\n'));
    for (let count = 0; count < 8; count += 1) {
      await openSilently(served.url);
      expect(bytesOf(served.responses)).toBeLessThan(MOST_BYTES + 10_000_000);
    }
    await until('all have asked', () => served.responses.length === 9);
    expect(bytesOf(served.responses)).toBeLessThanOrEqual(MOST_BYTES);
    expect(served.responses.filter(({ destroyed }) => !destroyed).length).toBeLessThanOrEqual(MOST_READERS);
    served.sandbox.send({ type: 'dispute.won', id: 'evt_seen_by_the_page' });
    await until('the page sees it', () => page.text().includes('evt_seen_by_the_page'));
    const later = await openReading(served.url);
    await until('another page sees it', () => later.text().includes('evt_seen_by_the_page'));
  });

  test('are so many at most, and one that goes leaves its place to another', async () => {
    const { url, responses } = await serve();
    const pages = await Promise.all(Array.from({ length: MOST_READERS }, () => openReading(url)));
    expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([200]));
    const refused = await fetch(`${url}/sandbox/stream`);
    expect([refused.status, await refused.json()]).toEqual([
      503,
      expect.objectContaining({ message: 'Too many readers' }),
    ]);
    responses[7]?.req.socket.destroy();
    await until('there is a place', async () => (await openReading(url)).status === 200);
  });

  test('on one connection are one, however many requests it sends', async () => {
    const { url, responses } = await serve();
    for (let count = 0; count < 4; count += 1) await openSilently(url, 100);
    await until('they have asked', () => responses.length === 400);
    expect(responses.filter(({ writableEnded }) => !writableEnded)).toHaveLength(4);
    expect((await openReading(url)).status).toBe(200);
  });

  test('get ids and types of any length cut', async () => {
    const { sandbox, url } = await serve();
    await createWebhook({ call: callTo(url) }, `{"url":"${(await record()).url}"}`);
    const long = 'x'.repeat(1_000_000);
    sandbox.send({ type: `a.${long}`, id: long });
    await sandbox.settled();
    sandbox.send({ type: `a.${long}`, id: long, delayMs: 1_000 });
    const page = await openReading(url);
    await until('the first message', () => page.text().includes('\n\n'));
    expect(page.text().length).toBeLessThan(100_000);
  });
});
