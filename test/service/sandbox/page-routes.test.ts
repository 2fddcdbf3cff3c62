import express from 'express';
import { createSandbox } from 'posthorn/sandbox';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listenUntilTheEnd } from '../../support/listen.ts';
import { CONTROL, createWebhook, openSandbox, START_AT } from './opened-sandbox.ts';
import { openRecorded, record, statuses } from './recording-endpoint.ts';

describe('the page at the root', () => {
  test('is HTML that may load and run only what the sandbox serves', async () => {
    const { url } = await openSandbox();
    const response = await fetch(url);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; /);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*|data:/);
    expect(await response.text()).toContain('<base href="/">');
  });

  test('answers HEAD, refuses other methods, and has no other files', async () => {
    const { url, call } = await openSandbox();
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
    const stream = await fetch(`${url}/sandbox/stream`, { method: 'HEAD' });
    expect([stream.status, await stream.text()]).toEqual([200, '']);
    expect((await call('POST', '/', CONTROL)).status).toBe(405);
    expect((await call('GET', '/sandbox/page/other.js')).status).toBe(404);
  });

  test.each(['/', '/sandbox/stream', '/sandbox/page/page.js'])(
    '%s is for no page of another origin',
    async (path) => {
      const { url } = await openSandbox();
      for (const [name, value] of [
        ['origin', 'http://evil.example'],
        ['sec-fetch-site', 'cross-site'],
      ] as const) {
        const headers = { [name]: value };
        expect((await fetch(`${url}${path}`, { headers })).status).toBe(403);
      }
    },
  );

  test('works below a path of an Express application', async () => {
    const sandbox = createSandbox();
    const url = `${await listenUntilTheEnd(express().use('/tools/sandbox', sandbox.app))}/tools/sandbox`;
    onTestFinished(() => sandbox.close());
    expect(await (await fetch(url)).text()).toContain('<base href="/tools/sandbox/">');
    expect((await fetch(`${url}/sandbox/page/style.css`)).headers.get('content-type')).toBe(
      'text/css; charset=utf-8',
    );
    const { next } = await openStream(url);
    expect(await next()).toMatchObject({ isFirst: true });
  });
});

describe('GET /sandbox/stream', () => {
  test('tells the state first, and then what is new', async () => {
    const opened = await openSandbox();
    const endpoint = await record(statuses(503));
    const { next } = await openStream(opened.url);
    expect(await next()).toMatchObject({
      isFirst: true,
      clock: { now: START_AT, speed: 0 },
      nextDueAt: null,
      webhooks: [],
      events: [],
      attempts: [],
    });
    const { id } = await createWebhook(opened, `{"url":"${endpoint.url}"}`);
    expect(await next()).toMatchObject({
      isFirst: false,
      webhooks: [{ id, enabled: true, authentication: 'NONE' }],
    });
    opened.sandbox.send({ type: 'transfer.succeeded', id: 'evt_1' });
    expect(await next()).toMatchObject({ events: [{ id: 'evt_1' }], pending: [{ number: 1 }], attempts: [] });
    expect(await next()).toMatchObject({
      nextDueAt: START_AT + 60_000,
      events: [],
      pending: [{ number: 2, event: { id: 'evt_1' } }],
      attempts: [{ event: 'evt_1', number: 1, status: 503 }],
    });
    const later = await openStream(opened.url);
    expect(await later.next()).toMatchObject({ isFirst: true, attempts: [{ event: 'evt_1' }] });
  });

  test('cuts long bodies', async () => {
    const { opened } = await openRecorded();
    await opened.settle({ type: 'transfer.succeeded', data: { long: 'x'.repeat(1_000_000) } });
    const { next } = await openStream(opened.url);
    expect(JSON.stringify(await next()).length).toBeLessThan(20_000);
  });
});

/** Reads the messages of a stream, one after the other. */
async function openStream(url: string): Promise<{ readonly next: () => Promise<unknown> }> {
  const response = await fetch(`${url}/sandbox/stream`);
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
  if (response.body === null) throw new Error('no body');
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  onTestFinished(() => reader.cancel());
  let text = '';
  return {
    next: async () => {
      while (!text.includes('\n\n')) text += (await reader.read()).value ?? '';
      const end = text.indexOf('\n\n');
      const message = text.slice('data: '.length, end);
      text = text.slice(end + 2);
      return JSON.parse(message);
    },
  };
}
