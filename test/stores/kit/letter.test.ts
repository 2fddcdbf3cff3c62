import { once } from 'node:events';
import { request } from 'node:http';
import { signedHeaders } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { eventAt, openEndpoint } from '../../support/open-endpoint.ts';
import { KEY } from '../../support/served.ts';
import { MINUTE_MS, stepClocked } from '../../support/step-clock.ts';

const authentication = { type: 'BASIC', basic: { username: 'service', password: 'secret word' } } as const;

test('a letter holds the body byte for byte, and the headers without credentials', async () => {
  const { clock, deadLetters } = stepClocked();
  const { url, reports } = await openEndpoint({ now: clock.now, deadLetters, authentication }, (receiver) =>
    receiver
      .on('transfer.*', () => 'done', { name: 'book' })
      .on('transfer.*', () => Promise.reject(new Error('poison')), { name: 'mail' }),
  );
  const event = eventAt(clock.startedAt);
  const body = `\n{ "id":"${event.id}",\t"type":"transfer.succeeded", "created_at": "${event.created_at}",
    "data": {"amount": 1.0, "a":1, "a":2, "note": "\\u00e9 é 💶"} }\r\n`;
  clock.step(15 * MINUTE_MS);
  const sent = request(url, {
    method: 'POST',
    headers: {
      ...signedHeaders(body, { key: KEY, authentication }),
      'Proxy-Authorization': 'Basic cHJveHk6d29yZA==',
      Cookie: 'session=secret',
      'X-Trace': ['one', 'two'],
      Connection: 'close',
    },
  });
  sent.end(body);
  const [response] = await once(sent, 'response');
  expect(response.statusCode).toBe(200);
  response.resume();
  const receivedAt = reports.all[0]?.receivedAt;
  const letter = await deadLetters.get(event.id);
  expect(Buffer.from(letter?.rawBody ?? []).toString()).toBe(body);
  expect(letter).toEqual({
    id: event.id,
    type: 'transfer.succeeded',
    reason: 'handler_failed',
    message: expect.stringContaining('poison'),
    rawBody: expect.any(Uint8Array),
    headers: {
      'content-type': ['application/json'],
      'x-service-signature': [signedHeaders(body, { key: KEY })['x-service-signature']],
      'x-trace': ['one', 'two'],
      connection: ['close'],
      host: [new URL(url).host],
      'content-length': [String(Buffer.byteLength(body))],
    },
    receivedAt,
    parkedAt: clock.now(),
    // Stored before the handlers ran, and again when they had failed.
    lastTriedAt: clock.now(),
    attempts: 1,
    handled: ['book'],
    runningUntil: undefined,
  });
});
