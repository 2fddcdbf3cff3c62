import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { createSandbox, type DeliveryAttempt } from 'posthorn/sandbox';
import { describe, expect, test } from 'vitest';
import { assembleSandbox } from '../../../src/service/sandbox/assemble.ts';
import { fakeTime } from '../../support/fake-time.ts';
import { freePort } from '../../support/free-port.ts';
import { listenUntilTheEnd } from '../../support/listen.ts';
import { selfSigned } from '../../support/self-signed.ts';
import {
  createWebhook,
  type OpenedSandbox,
  openSandbox,
  retrieveWebhook,
  START_AT,
  serveUntilTheEnd,
} from './opened-sandbox.ts';
import { record } from './recording-endpoint.ts';

const ANSWER_TIMEOUT_MS = 1_000;

/** A sandbox that waits for answers for a second instead of 30, or for as long as it is told. */
function openImpatiently(answerTimeoutMs = ANSWER_TIMEOUT_MS): Promise<OpenedSandbox> {
  const fixed = { answerTimeoutMs };
  return serveUntilTheEnd(assembleSandbox({ clock: 'manual', startAt: START_AT }, fixed));
}

/** The first attempt, and how many there are after the time of the first retry. */
async function attemptAt(
  opened: OpenedSandbox,
  url: string,
): Promise<{ readonly first: DeliveryAttempt | undefined; readonly count: number }> {
  await createWebhook(opened, `{"url":"${url}"}`);
  await opened.settle({ type: 'transfer.created' });
  const [first] = opened.sandbox.deliveries();
  await opened.sandbox.clock.advance(60_000);
  return { first, count: opened.sandbox.deliveries().length };
}

const RETRIED = 2;
const DONE = 1;

describe('the answer decides:', () => {
  test.each([200, 201, 204, 299])('%d is a success', async (status) => {
    const endpoint = await record((response) => void response.writeHead(status).end());
    const { first, count } = await attemptAt(await openSandbox(), endpoint.url);
    expect(first).toMatchObject({ number: 1, status });
    expect(first).not.toHaveProperty('error');
    expect(count).toBe(DONE);
  });

  test.each([300, 304, 400, 401, 404, 410, 429, 500, 503])('%d is a failure', async (status) => {
    const endpoint = await record((response) => void response.writeHead(status).end());
    const { first, count } = await attemptAt(await openSandbox(), endpoint.url);
    expect(first).toMatchObject({ number: 1, status });
    expect(count).toBe(RETRIED);
  });

  test.each([301, 302, 307, 308])('a redirect by %d is not followed, and a failure', async (status) => {
    const elsewhere = await record();
    const endpoint = await record(
      (response) => void response.writeHead(status, { location: elsewhere.url }).end(),
    );
    const { first, count } = await attemptAt(await openSandbox(), endpoint.url);
    expect(first).toMatchObject({ status, response: { headers: { location: elsewhere.url } } });
    expect(elsewhere.received.all).toEqual([]);
    expect(count).toBe(RETRIED);
  });

  test('an informational answer is none', async () => {
    const endpoint = await record((response) => {
      response.writeProcessing();
      response.writeHead(500).end();
    });
    const { first, count } = await attemptAt(await openSandbox(), endpoint.url);
    expect(first).toMatchObject({ status: 500 });
    expect(count).toBe(RETRIED);
  });

  const cut: Record<string, (response: ServerResponse) => void> = {
    'a body that breaks off': (response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half', () => response.destroy());
    },
    'a body that never ends': (response) => void response.writeHead(200).write('and so on'),
  };
  test.each(Object.entries(cut))('%s changes nothing of the status', async (_, answer) => {
    const endpoint = await record(answer);
    // The status must come in time, also if this process stands still for a moment.
    const { first, count } = await attemptAt(await openImpatiently(5_000), endpoint.url);
    expect(first).toMatchObject({
      status: 200,
      response: { body: expect.stringMatching(/^(half|and so on)$/) },
    });
    expect(count).toBe(DONE);
  });
});

describe('no answer is a failure:', () => {
  test('a refused connection', async () => {
    const { first, count } = await attemptAt(await openSandbox(), `http://127.0.0.1:${await freePort()}/`);
    expect(first).toMatchObject({ number: 1, error: expect.stringContaining('ECONNREFUSED') });
    expect(first).not.toHaveProperty('status');
    expect(count).toBe(RETRIED);
  });

  test('a connection that is reset', async () => {
    const endpoint = await record((response) => void response.socket?.resetAndDestroy());
    const { first, count } = await attemptAt(await openSandbox(), endpoint.url);
    expect(first?.error).toMatch(/ECONNRESET|hang up/);
    expect(count).toBe(RETRIED);
  });

  test('something that does not speak HTTP', async () => {
    const endpoint = await record((response) => void response.socket?.end('SSH-2.0-nonsense\r\n'));
    const { first, count } = await attemptAt(await openSandbox(), endpoint.url);
    expect(first?.error).toMatch(/Parse Error/);
    expect(count).toBe(RETRIED);
  });

  test('a host that nobody knows', async () => {
    const { first } = await attemptAt(await openSandbox(), 'https://no-such-host.invalid/');
    expect(first?.error).toMatch(/no-such-host\.invalid/);
  });

  test('a certificate that nobody vouches for', async () => {
    const server = createServer(selfSigned(), (_request, response) => void response.end());
    const { first, count } = await attemptAt(await openSandbox(), `${await listenUntilTheEnd(server)}/`);
    expect(first?.error).toMatch(/self.signed certificate/);
    expect(count).toBe(RETRIED);
  });

  test('an answer that does not come in time', async () => {
    const opened = await openImpatiently();
    const endpoint = await record(() => {});
    const { first, count } = await attemptAt(opened, endpoint.url);
    expect(first).toMatchObject({ error: `no answer within ${ANSWER_TIMEOUT_MS} ms` });
    expect(first?.durationMs).toBeGreaterThanOrEqual(ANSWER_TIMEOUT_MS - 5);
    expect(count).toBe(RETRIED);
  });
});

test('an endpoint has 30 seconds of real time, however the clock of the sandbox goes', async () => {
  const opened = await serveUntilTheEnd(createSandbox({ clock: 'manual' }));
  const responses: ServerResponse[] = [];
  const late = await record((response) => responses.push(response));
  const never = await record(() => {});
  const inTime = await createWebhook(opened, `{"url":"${late.url}"}`);
  const tooLate = await createWebhook(opened, `{"url":"${never.url}"}`);
  const attemptsAt = ({ id }: { readonly id: string }) => opened.sandbox.deliveries({ webhook: id });
  const pass = fakeTime();
  opened.sandbox.send({ type: 'transfer.created' });
  const advanced = opened.sandbox.clock.advance(59_999);
  await pass(20);
  await Promise.all([late.received.nth(1), never.received.nth(1)]);
  await pass(27_000);
  responses[0]?.writeHead(200).end();
  await expect.poll(() => attemptsAt(inTime)).toMatchObject([{ status: 200 }]);
  await pass(2_900);
  expect(attemptsAt(tooLate)).toEqual([]);
  await pass(100);
  await advanced;
  expect(attemptsAt(tooLate)).toMatchObject([{ error: 'no answer within 30000 ms', durationMs: 30_000 }]);
  expect(await retrieveWebhook(opened, tooLate.id)).toMatchObject({ enabled: true });
});
