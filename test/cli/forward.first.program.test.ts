import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AnyEvent, createReceiver, type Delivery } from 'posthorn';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { forwardTo } from '../../src/cli/forward.ts';
import { awaitedLater } from '../support/awaited-later.ts';
import { KEY, serve } from '../support/served.ts';
import { openBehind, outcomeOf, startListening } from './listening.ts';

describe('posthorn listen --forward', () => {
  test('passes the very bytes and the end-to-end headers on, credentials too', async () => {
    const behind = await openBehind();
    const { url } = await startListening(['--forward', behind.url, '--basic', 'u:p']);
    const authentication = { type: 'BASIC', basic: { username: 'u', password: 'p' } } as const;
    const body = `{ "id":"evt_1","type":"transfer.created", "created_at":"${new Date().toISOString()}","data":{"n":1.0} }`;
    const forwarded = behind.next();
    const headers = { 'x-request-id': '7' };
    const answer = awaitedLater(deliver(url, body, { key: KEY, authentication, headers }));
    const request = await forwarded;
    request.answerWith(201);
    expect(await outcomeOf(await answer)).toBe('200 processed');
    expect(request.body).toBe(body);
    expect(request.headers).toMatchObject({
      'content-type': ['application/json'],
      'x-service-signature': [expect.stringMatching(/^[0-9a-f]{64}$/)],
      authorization: ['Basic dTpw'],
      'x-request-id': ['7'],
      host: [new URL(behind.url).host],
      'content-length': [String(Buffer.byteLength(body))],
    });
  });

  test('headers of the connection are not passed on', async () => {
    const behind = await openBehind();
    const { url } = await startListening(['--forward', behind.url]);
    const script = `body='{"id":"evt_1","type":"dispute.won","created_at":"${new Date().toISOString()}","data":{}}'
      exec curl -sS -H 'connection: close, X-Hop' -H 'x-hop: 1' -H 'x-kept: 1' \
        -H 'te: trailers' -H 'proxy-authorization: hidden' -H 'expect: 100-continue' --data-raw "$body" ${url} \
        -H "x-service-signature: $(printf %s "$body" | openssl dgst -sha256 -hmac ${KEY} -r | cut -d' ' -f1)"`;
    const forwarded = behind.next();
    const sent = startShell(script);
    const request = await forwarded;
    request.answerWith(200);
    await sent;
    expect(request.headers).toHaveProperty('x-kept');
    for (const name of ['x-hop', 'te', 'proxy-authorization', 'expect', 'transfer-encoding']) {
      expect(request.headers).not.toHaveProperty(name);
    }
  });

  test('headers that a connection names among any number of spaces are found in linear time', async () => {
    const behind = await openBehind();
    const spaces = ' '.repeat(100_000);
    const connection = ['close', `X-One${spaces},${spaces}X-Two`, `${spaces}x${spaces}x${spaces}`];
    const hops = { 'x-one': ['1'], 'x-two': ['1'], 'x-kept': ['1'] };
    const before = process.cpuUsage();
    const forwarded = behind.next();
    const rest = { rawBody: new Uint8Array(), signal: new AbortController().signal };
    const answer = forwardTo(new URL(behind.url), rest, { connection, ...hops });
    const request = await forwarded;
    request.answerWith(200);
    await answer;
    expect(request.headers).toMatchObject({ 'x-kept': ['1'] });
    for (const name of ['x-one', 'x-two']) expect(request.headers).not.toHaveProperty(name);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(10_000);
  });

  test.each([500, 404, 302])(
    'an answer of %i fails the event, and the retry is passed on again',
    async (status) => {
      const behind = await openBehind();
      const { program, url } = await startListening(['--forward', behind.url]);
      const event = createEvent('transfer.created');
      const send = async (answer: number): Promise<unknown> => {
        const forwarded = behind.next();
        const sent = awaitedLater(deliver(url, event, { key: KEY }));
        (await forwarded).answerWith(answer, { location: behind.url });
        return outcomeOf(await sent);
      };
      expect(await send(status)).toBe('500 handler_failed');
      await program.line(new RegExp(`failed 500 .* attempt 1 .*/inner answered ${status}$`));
      expect(await send(204)).toBe('200 processed');
      expect(await outcomeOf(await deliver(url, event, { key: KEY }))).toBe('200 duplicate');
    },
  );

  test('what cannot be reached fails the event', async () => {
    // No test gets port 2 as a free one; fetch refuses to ask port 1.
    const { program, url } = await startListening(['--forward', 'http://127.0.0.1:2/x?token=hidden']);
    expect(await outcomeOf(await deliver(url, createEvent('transfer.created'), { key: KEY }))).toBe(
      '500 handler_failed',
    );
    await program.line(/cannot be reached: .*ECONNREFUSED/);
    expect(program.lines.join()).not.toContain('hidden');
  });

  test('a receiver with the same key and credentials behind it accepts what is passed on', async () => {
    const authentication = { type: 'BEARER', bearer: { token: 'to-ken' } } as const;
    const events: AnyEvent[] = [];
    const deliveries: Delivery[] = [];
    const inner = createReceiver({ signingKey: KEY, authentication }).on('*', (event) => events.push(event));
    inner.observe(() => {});
    const innerUrl = await serve({
      receive: (delivery) => {
        deliveries.push(delivery);
        return inner.receive(delivery);
      },
    });
    const { url } = await startListening(['--forward', innerUrl], { BEARER_TOKEN: 'to-ken' });
    const sent = Array.from({ length: 5 }, () => createEvent('transfer.created'));
    const answers = await Promise.all(sent.map((event) => deliver(url, event, { key: KEY, authentication })));
    expect(await Promise.all(answers.map(outcomeOf))).toEqual(sent.map(() => '200 processed'));
    expect(events.map(({ id }) => id).sort()).toEqual(sent.map(({ id }) => id).sort());
    expect(await outcomeOf(await deliver(url, sent[0] ?? {}, { key: 'other', authentication }))).toBe(
      '403 signature_mismatch',
    );
    expect(deliveries).toHaveLength(5);
  });
});

async function startShell(script: string): Promise<void> {
  await once(spawn('sh', ['-c', script], { stdio: 'ignore' }), 'close');
}
