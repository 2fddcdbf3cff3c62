import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { createReceiver } from 'posthorn';
import { toNodeOperator } from 'posthorn/operator';
import { expect, test } from 'vitest';
import { headOf, RawConnection } from '../adapters/raw-connection.ts';
import { listenUntilTheEnd } from '../support/listen.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { KEY } from '../support/served.ts';
import { silenced } from '../support/silenced.ts';

const MEBIBYTE = 1_048_576;

function operator(): RequestListener {
  silenced('info');
  const receiver = createReceiver({ signingKey: KEY, deadLetters: createMapDeadLetters() });
  return toNodeOperator(receiver, { path: '/operator', authorize: () => ({ name: 'anna' }) });
}

const headers = { 'content-type': 'application/json' };

const replayAt = (origin: string): string => `${origin}/operator/api/dead-letters/replay`;

async function codeOf(answer: Promise<Response>): Promise<unknown[]> {
  const response = await answer;
  const { code }: { code?: unknown } = Object(await response.json());
  return [response.status, code];
}

test('a body of any length is answered: one that is too long is refused', async () => {
  const url = replayAt(await listenUntilTheEnd(operator()));
  const send = (length: number, chunked = false) => {
    const body = JSON.stringify({ ids: ['a'] }).padEnd(length);
    const sent = chunked ? new Blob([body]).stream() : body;
    return fetch(url, { method: 'POST', headers, body: sent, ...(chunked && { duplex: 'half' }) });
  };
  expect((await send(MEBIBYTE)).status).toBe(200);
  expect((await send(MEBIBYTE, true)).status).toBe(200);
  expect(await codeOf(send(MEBIBYTE + 1))).toEqual([413, 'body_too_large']);
  expect(await codeOf(send(8 * MEBIBYTE, true))).toEqual([413, 'body_too_large']);
  expect((await send(20)).status).toBe(200);
});

test('a body that was read before and not kept is a mistake of the mount', async () => {
  const printed = silenced('error');
  const handle = operator();
  const origin = await listenUntilTheEnd((request, response) => {
    void text(request).then(() => handle(request, response));
  });
  expect(await codeOf(fetch(replayAt(origin), { method: 'POST', headers, body: '{}' }))).toEqual([
    500,
    'internal_error',
  ]);
  expect(printed.mock.calls.join()).toContain('the body was read before: hand over the request unread');
});

test('a sender that hangs up in the middle of its body harms nobody', async () => {
  const server = createServer(operator());
  const origin = await listenUntilTheEnd(server);
  const gone = new Promise((resolve) => server.once('request', (request) => request.once('close', resolve)));
  const cut = await RawConnection.open(replayAt(origin));
  cut.write(`${headOf(replayAt(origin), { ...headers, 'content-length': '100' })}{"ids"`);
  await once(server, 'request');
  cut.hangUp();
  await gone;
  expect((await fetch(`${origin}/operator/api/health`)).status).toBe(200);
});
