import { createSandbox } from 'posthorn/sandbox';
import { describe, expect, test } from 'vitest';
import { until } from '../../support/until.ts';
import { CONTROL, createWebhook, openSandbox, START_AT } from './opened-sandbox.ts';
import { record, statuses } from './recording-endpoint.ts';

describe('the manual clock', () => {
  test('stands still until it is advanced', async () => {
    const { call, sandbox } = await openSandbox();
    expect(sandbox.clock.now()).toBe(START_AT);
    await until('real time passes', () => Date.now() % 10 === 0);
    expect(await call('GET', '/sandbox/clock')).toMatchObject({
      status: 200,
      body: { now: '2026-03-01T12:00:00.500Z' },
    });
    expect(await call('POST', '/sandbox/clock', CONTROL, '{"advanceMs":1500}')).toMatchObject({
      status: 200,
      body: { now: '2026-03-01T12:00:02.000Z' },
    });
    expect(sandbox.clock.now()).toBe(START_AT + 1_500);
  });

  test('starts now unless told otherwise', () => {
    const before = Date.now();
    const now = createSandbox({ clock: 'manual' }).clock.now();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
  });

  test('a step over HTTP is answered when everything that fell due has been', async () => {
    const opened = await openSandbox();
    const endpoint = await record((response) => {
      setTimeout(() => response.writeHead(500).end(), 50);
    });
    await createWebhook(opened, `{"url":"${endpoint.url}"}`);
    await opened.call('POST', '/sandbox/events', CONTROL, '{"type":"transfer.created","id":"e"}');
    await opened.call('POST', '/sandbox/clock', CONTROL, '{"advanceMs":360000}');
    const { body } = await opened.call('GET', '/sandbox/deliveries?event=e');
    expect(body).toMatchObject([
      { number: 1, at: '2026-03-01T12:00:00.500Z' },
      { number: 2, at: '2026-03-01T12:01:00.500Z' },
      { number: 3, at: '2026-03-01T12:06:00.500Z' },
    ]);
  });

  test('the endpoint sees the time at which its delivery is due, and not the end of the step', async () => {
    const opened = await openSandbox();
    const times: number[] = [];
    const endpoint = await record((response) => {
      times.push(opened.sandbox.clock.now() - START_AT);
      response.writeHead(500).end();
    });
    await createWebhook(opened, `{"url":"${endpoint.url}"}`);
    opened.sandbox.send({ type: 'transfer.created' });
    await opened.sandbox.clock.advance(3_600_000);
    expect(times).toEqual([0, 60_000, 360_000, 1_260_000]);
    expect(opened.sandbox.clock.now()).toBe(START_AT + 3_600_000);
  });

  test('retries of several events are made in the order of their times', async () => {
    const opened = await openSandbox();
    const endpoint = await record(statuses(500, 500));
    await createWebhook(opened, `{"url":"${endpoint.url}"}`);
    opened.sandbox.send({ type: 'transfer.created', id: 'a', delayMs: 10 });
    opened.sandbox.send({ type: 'transfer.created', id: 'b' });
    await opened.sandbox.clock.advance(3_600_000);
    expect(endpoint.received.all.map(({ body }) => body.id)).toEqual(['b', 'a', 'b', 'a']);
  });

  test('steps at the same time add up', async () => {
    const opened = await openSandbox();
    const endpoint = await record((response) => void response.writeHead(500).end());
    await createWebhook(opened, `{"url":"${endpoint.url}"}`);
    opened.sandbox.send({ type: 'transfer.created' });
    const { advance } = opened.sandbox.clock;
    await Promise.all([advance(30_000), advance(30_000), advance(300_000)]);
    expect(opened.sandbox.clock.now()).toBe(START_AT + 360_000);
    expect(opened.sandbox.deliveries().map(({ number }) => number)).toEqual([1, 2, 3]);
  });

  test.each(['-1', '0.5', '1e300', '"5"', 'null'])('a step of %s is refused', async (advanceMs) => {
    const { call, sandbox } = await openSandbox();
    const reply = await call('POST', '/sandbox/clock', CONTROL, `{"advanceMs":${advanceMs}}`);
    expect(reply).toMatchObject({ status: 400, body: { status: 400, message: 'Invalid step' } });
    expect(sandbox.clock.now()).toBe(START_AT);
  });

  test('a step without a length, or with other members, is refused', async () => {
    const { call } = await openSandbox();
    for (const body of ['{}', '{"ms":1}', '{"advanceMs":1,"speed":2}']) {
      expect((await call('POST', '/sandbox/clock', CONTROL, body)).status).toBe(400);
    }
  });
});

describe('the real clock', () => {
  test('is that of the machine', async () => {
    const { sandbox } = await openSandbox({});
    // That may be set while the test runs.
    expect(Math.abs(sandbox.clock.now() - Date.now())).toBeLessThan(60_000);
  });

  test('with a speed, retries come by themselves, sooner', async () => {
    // Half an hour in 1.5 seconds.
    const opened = await openSandbox({ speed: 1_200, startAt: START_AT });
    const endpoint = await record((response) => void response.writeHead(500).end());
    await createWebhook(opened, `{"url":"${endpoint.url}"}`);
    opened.sandbox.send({ type: 'transfer.created', id: 'e' });
    await until('all four attempts', () => opened.sandbox.deliveries().length === 4);
    const times = opened.sandbox.deliveries().map(({ at }) => Date.parse(at));
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    // Never early; late by what the machine needs, at this speed.
    for (const [index, least] of [60_000, 300_000, 900_000].entries()) {
      expect(gaps[index]).toBeGreaterThanOrEqual(least);
    }
    expect(opened.sandbox.clock.now()).toBeGreaterThanOrEqual(START_AT + 1_260_000);
  });

  test('at its own speed a retry does not come at once', async () => {
    const opened = await openSandbox({});
    const endpoint = await record((response) => void response.writeHead(500).end());
    await createWebhook(opened, `{"url":"${endpoint.url}"}`);
    await opened.settle({ type: 'transfer.created' });
    const later = Date.now() + 300;
    await until('some time passes', () => Date.now() > later);
    expect(endpoint.received.all).toHaveLength(1);
  });

  test('can be stepped forward as well', async () => {
    const opened = await openSandbox({});
    const endpoint = await record(statuses(500));
    await createWebhook(opened, `{"url":"${endpoint.url}"}`);
    opened.sandbox.send({ type: 'transfer.created' });
    // It is stepped to a moment: what passes meanwhile does not come on top.
    const realTime = Date.now();
    await opened.call('POST', '/sandbox/clock', CONTROL, '{"advanceMs":60000}');
    expect(opened.sandbox.deliveries().map(({ status }) => status)).toEqual([500, 200]);
    expect(opened.sandbox.clock.now()).toBeGreaterThanOrEqual(realTime + 60_000);
  });
});
