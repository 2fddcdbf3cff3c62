import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import type { DeliveryAttempt, Sandbox, SandboxOptions } from 'posthorn/sandbox';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { assembleSandbox } from '../../../src/service/sandbox/assemble.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import {
  BANKING,
  CONTROL,
  createWebhook,
  type OpenedSandbox,
  START_AT,
  serveUntilTheEnd,
} from './opened-sandbox.ts';
import { record } from './recording-endpoint.ts';

const QUOTE = '{"destination":{"currency":"EUR","amount":"250.00"}}';
const CREATED_AT = '2026-03-01T12:00:00.500Z';

/** Opens a sandbox that ages events. The real time stands, so that only steps age them. */
function openAging(options: SandboxOptions = {}): Promise<OpenedSandbox> {
  vi.setSystemTime(START_AT);
  onTestFinished(() => void vi.useRealTimers());
  return serveUntilTheEnd(assembleSandbox(options, { agesEvents: true }));
}

/** The same, with a webhook whose endpoint always fails. */
async function openFailing(options: SandboxOptions = {}): Promise<OpenedSandbox> {
  const opened = await openAging(options);
  const endpoint = await record((response) => void response.writeHead(500).end());
  await createWebhook(opened, `{"url":"${endpoint.url}"}`);
  return opened;
}

function createdAt({ request }: DeliveryAttempt): string {
  return JSON.parse(request.body).created_at;
}

function agesOf(sandbox: Sandbox, event: string): (string | number | undefined)[][] {
  return sandbox.deliveries({ event }).map((attempt) => [attempt.at, createdAt(attempt), attempt.agedMs]);
}

describe('a sandbox that ages events', () => {
  test('sends retries with an earlier created_at, at real times; new events are not older', async () => {
    const { sandbox, call } = await openFailing();
    sandbox.send({ type: 'transfer.created', id: 'a' });
    await sandbox.settled();
    const step = await call('POST', '/sandbox/clock', CONTROL, '{"advanceMs":360000}');
    expect(step.body).toEqual({ now: CREATED_AT, agedMs: 360_000 });
    expect(sandbox.send({ type: 'transfer.created', id: 'b' }).created_at).toBe(CREATED_AT);
    const next = await call('POST', '/sandbox/clock', CONTROL, '{"toNextRetry":true}');
    expect(next.body).toEqual({ now: CREATED_AT, agedMs: 60_000 });
    expect(agesOf(sandbox, 'a')).toEqual([
      [CREATED_AT, CREATED_AT, undefined],
      [CREATED_AT, '2026-03-01T11:59:00.500Z', 60_000],
      [CREATED_AT, '2026-03-01T11:54:00.500Z', 360_000],
    ]);
    expect(agesOf(sandbox, 'b')).toEqual([
      [CREATED_AT, CREATED_AT, undefined],
      [CREATED_AT, '2026-03-01T11:59:00.500Z', 60_000],
    ]);
    const headers = sandbox.deliveries().map(({ request }) => request.headers);
    expect(new Set(headers.map(({ date }) => date))).toEqual(new Set(['Sun, 01 Mar 2026 12:00:00 GMT']));
    expect((await call('GET', '/sandbox/clock')).body).toEqual({ now: CREATED_AT });
  });

  test('makes all attempts within 21 minutes, however long the answers take', async () => {
    const opened = await openAging();
    const endpoint = await record((response) => {
      vi.setSystemTime(Date.now() + 5_000);
      response.writeHead(500).end();
    });
    await createWebhook(opened, `{"url":"${endpoint.url}"}`);
    await opened.settle({ type: 'transfer.created', id: 'slow' });
    await opened.sandbox.clock.advance(21 * 60_000);
    expect(opened.sandbox.deliveries({ event: 'slow' })).toHaveLength(4);
  });

  test('ages what is delayed, its copies, and what is old from the start', async () => {
    const { sandbox } = await openFailing();
    const event = { type: 'transfer.created', id: 'e', delayMs: 5_000, duplicates: 1, ageMs: 60_000 };
    expect(sandbox.send(event).created_at).toBe('2026-03-01T11:59:00.500Z');
    await sandbox.clock.advance(5_000);
    const aged = [CREATED_AT, '2026-03-01T11:58:55.500Z', 5_000];
    expect(agesOf(sandbox, 'e')).toEqual([aged, aged]);
  });

  test('signs an aged event before its body is changed', async () => {
    const { sandbox } = await openFailing({ signingKey: 'key' });
    sandbox.send({ type: 'transfer.created', id: 'e', changed: true, delayMs: 5_000 });
    await sandbox.clock.advance(5_000);
    const [attempt] = sandbox.deliveries();
    const { headers = {}, body = '' } = attempt?.request ?? {};
    const { changed: _, ...data } = JSON.parse(body).data;
    const signed = JSON.stringify({ ...JSON.parse(body), data });
    expect(signed).toContain('2026-03-01T11:59:55.500Z');
    const signature = createHmac('sha256', 'key').update(signed).digest('hex');
    expect(headers['x-service-signature']).toBe(signature);
    expect(headers['content-length']).toBe(String(body.length));
    expect(body).not.toBe(signed);
  });

  test('a slow clock does not make an event younger', async () => {
    const { sandbox } = await openFailing({ speed: 0.5 });
    sandbox.send({ type: 'transfer.created', id: 'e' });
    await sandbox.settled();
    vi.setSystemTime(START_AT + 120_000);
    await sandbox.clock.advance(0);
    expect(sandbox.deliveries().map(createdAt)).toEqual([CREATED_AT, CREATED_AT]);
  });

  test('goes on aging what is in its state file', async () => {
    const state = join(temporaryDirectory(), 'state.json');
    const { sandbox } = await openFailing({ state });
    sandbox.send({ type: 'transfer.created', id: 'e' });
    await sandbox.clock.advance(30_000);
    await sandbox.close();
    const { sandbox: next } = await openAging({ state });
    await next.clock.advance(30_000);
    expect(agesOf(next, 'e').at(-1)).toEqual([CREATED_AT, '2026-03-01T11:59:00.500Z', 60_000]);
  });

  test('FX quotes grow older, and expire by it, in whole seconds of real time', async () => {
    const { sandbox, call } = await openAging();
    await sandbox.clock.advance(123_456);
    const { body } = await call('POST', '/banking/us2/v1/transaction/fxQuote', BANKING, QUOTE);
    const { id, ...quote } = body as { id: number; createdOn: string; fxQuoteExpiry: string };
    // A second less than now, because no time of a quote may lie in the future.
    expect(quote).toMatchObject({ createdOn: '03/01/2026 11:59:59', fxQuoteExpiry: '03/01/2026 12:00:29' });
    await sandbox.clock.advance(29_999);
    const path = `/banking/us2/v1/transaction/fxQuote/id/${id}`;
    const aged = { createdOn: '03/01/2026 11:59:29', fxQuoteExpiry: '03/01/2026 11:59:59' };
    expect((await call('GET', path, BANKING)).body).toMatchObject(aged);
    expect(() => sandbox.acceptQuote(id + 1)).toThrow('not found');
    await sandbox.clock.advance(1);
    expect(() => sandbox.acceptQuote(id)).toThrow(/expired/);
    expect((await call('POST', `/sandbox/fxQuotes/${id}/accept`, CONTROL)).body).toMatchObject({
      details: 'it expired at 03/01/2026 11:59:59 UTC',
    });
  });

  test('a quote that is accepted changes its time, and the webhooks have real times', async () => {
    const opened = await openFailing();
    const { sandbox, call } = opened;
    await sandbox.clock.advance(999);
    const { body } = await call('POST', '/banking/us2/v1/transaction/fxQuote', BANKING, QUOTE);
    const { id, lastUpdatedOn } = body as { id: number; lastUpdatedOn: string };
    expect(sandbox.acceptQuote(id).lastUpdatedOn > lastUpdatedOn).toBe(true);
    const { created_at } = await createWebhook(opened, '{"url":"https://example.com/webhooks"}');
    expect(created_at).toBe(CREATED_AT);
  });

  test('shows the page real times, at which by its speed things will happen', async () => {
    const { sandbox, url, call } = await openFailing({ speed: 60 });
    await sandbox.clock.advance(3_600_000);
    sandbox.send({ type: 'transfer.created', id: 'e' });
    await sandbox.settled();
    await call('POST', '/banking/us2/v1/transaction/fxQuote', BANKING, QUOTE);
    const retryAt = START_AT + 1_000;
    expect(await firstMessage(url)).toMatchObject({
      clock: { now: START_AT, speed: 60, agesEvents: true, realNow: START_AT },
      pending: [{ dueAt: retryAt, event: { created_at: CREATED_AT } }],
      nextDueAt: retryAt,
      quotes: [{ expiresAt: START_AT + 500 }],
    });
  });
});

/** The state of the sandbox as a page that opens gets it. */
async function firstMessage(url: string): Promise<unknown> {
  const { body } = await fetch(`${url}/sandbox/stream`);
  let text = '';
  for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    if (text.endsWith('\n\n')) break;
  }
  return JSON.parse(text.replace('data: ', ''));
}

describe('an attempt names the event that it has become older than', () => {
  const transfer = (id: string, resource = 'TR1') => ({
    type: 'transfer.updated',
    id,
    data: { id: resource },
  });

  /** Fails the retried event, and none else. */
  async function openOne(): Promise<OpenedSandbox> {
    const opened = await openAging();
    const endpoint = await record((response, { body }) => {
      response.writeHead(body.id === 'retried' ? 500 : 200).end();
    });
    await createWebhook(opened, `{"url":"${endpoint.url}"}`);
    return opened;
  }

  async function olderThan(sandbox: Sandbox): Promise<(string | undefined)[]> {
    await sandbox.settled();
    await sandbox.clock.advance(3_600_000);
    return sandbox.deliveries({ event: 'retried' }).map((attempt) => attempt.olderThan);
  }

  test('once, if that happened before it and has ended', async () => {
    const { sandbox } = await openOne();
    sandbox.send(transfer('before'));
    vi.setSystemTime(START_AT + 1);
    sandbox.send(transfer('retried'));
    expect(await olderThan(sandbox)).toEqual([undefined, 'before', undefined, undefined]);
  });

  test.each([
    { name: 'happened after it', before: undefined, after: transfer('after') },
    { name: 'is of another resource', before: transfer('other', 'TR2'), after: undefined },
    { name: 'is of another entity', before: { ...transfer('other'), type: 'dispute.won' }, after: undefined },
    { name: 'has no resource', before: { ...transfer('other'), data: {} }, after: undefined },
    { name: 'was changed on its way', before: { ...transfer('other'), changed: true }, after: undefined },
    { name: 'was older all the same', before: { ...transfer('other'), ageMs: 3_600_000 }, after: undefined },
  ])('but not if that $name', async ({ before, after }) => {
    const { sandbox } = await openOne();
    if (before !== undefined) sandbox.send(before);
    vi.setSystemTime(START_AT + 1);
    sandbox.send(transfer('retried'));
    vi.setSystemTime(START_AT + 2);
    if (after !== undefined) sandbox.send(after);
    expect(await olderThan(sandbox)).toEqual([undefined, undefined, undefined, undefined]);
  });

  test('but not if a copy of a later one has its aged created_at', async () => {
    const { sandbox, call } = await openOne();
    sandbox.send(transfer('retried'));
    vi.setSystemTime(START_AT + 1);
    sandbox.send({ ...transfer('copied'), delayMs: 30_000 });
    await sandbox.clock.advance(30_000);
    expect((await call('POST', '/sandbox/events/copied/resend', CONTROL)).status).toBe(200);
    expect(await olderThan(sandbox)).toEqual([undefined, undefined, undefined, undefined]);
    expect(sandbox.deliveries({ event: 'copied' }).map(({ status }) => status)).toEqual([200, 200]);
  });
});
