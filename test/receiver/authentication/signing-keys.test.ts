import { setImmediate } from 'node:timers/promises';
import { createReceiver, type Key, type Receiver, type Report } from 'posthorn';
import { createEvent, deliver, signedHeaders } from 'posthorn/testing';
import { describe, expect, test, vi } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { fakeTimers } from '../../support/fake-time.ts';
import { receiverWithReports } from '../../support/receiver-with-reports.ts';
import { KEY, serve } from '../../support/served.ts';
import { throwing } from '../../support/throwing.ts';
import { unanswered } from '../../support/unanswered.ts';

interface Call {
  readonly resolve: (keys: Key | readonly Key[]) => void;
  readonly reject: (error: Error) => void;
}

/** A source that counts its calls, each to be settled by hand. */
function createSource() {
  const calls: Call[] = [];
  const source = (): Promise<Key | readonly Key[]> =>
    new Promise((resolve, reject) => calls.push({ resolve, reject }));
  return { calls, source };
}

describe('a source of keys', () => {
  test('is asked once by fifty deliveries at once, and again by later ones', async () => {
    const { calls, source } = createSource();
    const { receiver } = receiverWithReports({ signingKey: source });
    const waiting = Array.from({ length: 50 }, () =>
      receiver.receive(deliveryOf(createEvent('dispute.won'))),
    );
    await vi.waitFor(() => expect(calls).toHaveLength(1));
    calls[0]?.resolve(KEY);
    for (const { status } of await Promise.all(waiting)) expect(status).toBe(200);

    const later = receiver.receive(deliveryOf(createEvent('dispute.won')));
    await vi.waitFor(() => expect(calls).toHaveLength(2));
    calls[1]?.resolve([Buffer.from('other'), KEY]);
    expect(await later).toMatchObject({ status: 200 });
  });

  test('is not asked for a delivery that is refused by its headers', async () => {
    const { calls, source } = createSource();
    const { receiver } = receiverWithReports({ signingKey: source });
    const delivery = deliveryOf(createEvent('dispute.won'));
    expect(await receiver.receive({ ...delivery, method: 'GET' })).toMatchObject({ status: 405 });
    expect(await receiver.receive({ ...delivery, headers: {} })).toMatchObject({ status: 403 });
    expect(calls).toHaveLength(0);
  });

  test('that fails fails all that wait for it, and is asked again by the next', async () => {
    const { calls, source } = createSource();
    const { receiver } = receiverWithReports({ signingKey: source });
    const waiting = Array.from({ length: 3 }, () => receiver.receive(deliveryOf(createEvent('dispute.won'))));
    calls[0]?.reject(new Error('the vault is sealed'));
    for (const reply of await Promise.all(waiting)) {
      expect(reply).toMatchObject({ status: 503, headers: { 'retry-after': '60' } });
      expect(JSON.parse(reply.body).code).toBe('keys_unavailable');
      expect(reply.body).not.toContain('vault');
    }
    const next = receiver.receive(deliveryOf(createEvent('dispute.won')));
    await vi.waitFor(() => expect(calls).toHaveLength(2));
    calls[1]?.resolve(KEY);
    expect(await next).toMatchObject({ status: 200 });
  });

  const nothing: readonly { name: string; source: () => unknown }[] = [
    { name: 'throws', source: throwing('sealed') },
    { name: 'rejects', source: () => Promise.reject(new Error('sealed')) },
    { name: 'rejects with nothing', source: () => Promise.reject(undefined) },
    { name: 'gives undefined', source: async () => undefined },
    { name: 'gives null', source: async () => null },
    { name: 'gives an empty text', source: async () => '' },
    { name: 'gives no bytes', source: async () => new Uint8Array() },
    { name: 'gives an empty list', source: async () => [] },
    { name: 'gives a list with an empty key', source: async () => [KEY, ''] },
    { name: 'gives a list with a hole', source: async () => Object.assign([], { 1: KEY }) },
    { name: 'is late', source: unanswered },
  ];
  test.each(nothing)('that $name: 503, and no handler runs', async ({ source }) => {
    const seen: unknown[] = [];
    const reports: Report[] = [];
    const options = { signingKey: source, deadlineMs: 300 };
    const receiver: Receiver = Reflect.apply(createReceiver, undefined, [options]);
    receiver.on('*', (event) => seen.push(event)).observe((report) => reports.push(report));
    const response = await deliver(await serve(receiver), createEvent('dispute.won'), { key: KEY });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '60']);
    expect(await response.json()).toMatchObject({ status: 503, code: 'keys_unavailable' });
    expect(seen).toEqual([]);
    expect(reports).toMatchObject([{ outcome: 'failed', status: 503, code: 'keys_unavailable' }]);
  });

  test('that reads an environment variable which is not set: 503, with the way out in the report', async () => {
    const environment: NodeJS.ProcessEnv = {};
    const { receiver, reports } = receiverWithReports({ signingKey: () => environment.SIGNING_KEY });
    const url = await serve(receiver);
    const event = createEvent('dispute.won');
    expect(await deliver(url, event, { key: KEY })).toMatchObject({ status: 503 });
    expect(reports).toMatchObject([{ outcome: 'failed', code: 'keys_unavailable' }]);
    expect(reports[0]?.error?.message).toMatch(
      /^the signingKey function gave no key: it returned undefined; if .* environment variable, set it for/,
    );
    environment.SIGNING_KEY = KEY;
    expect(await deliver(url, event, { key: KEY })).toMatchObject({ status: 200 });
  });

  describe('that never answers', () => {
    test('is given up after 5 seconds, so that a later delivery asks anew', async () => {
      fakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
      const { calls, source } = createSource();
      const { receiver, reports } = receiverWithReports({ signingKey: source });
      const hung = receiver.receive(deliveryOf(createEvent('dispute.won')));
      while (calls.length === 0) await setImmediate();
      await vi.advanceTimersByTimeAsync(4_999);
      expect(reports).toEqual([]);
      await vi.advanceTimersByTimeAsync(1);
      expect(await hung).toMatchObject({ status: 503 });
      const next = receiver.receive(deliveryOf(createEvent('dispute.won')));
      await vi.waitFor(() => expect(calls).toHaveLength(2));
      calls[1]?.resolve(KEY);
      expect(await next).toMatchObject({ status: 200 });
    });
  });
});

describe('rotation', () => {
  test('any of several keys is accepted, and the report tells which', async () => {
    const bytes = Buffer.from([0, 255, 10]);
    const { receiver, reports } = receiverWithReports({ signingKey: ['old', bytes] });
    const url = await serve(receiver);
    const statuses: number[] = [];
    for (const key of ['old', bytes, 'other']) {
      statuses.push((await deliver(url, createEvent('dispute.won'), { key })).status);
    }
    expect(statuses).toEqual([200, 200, 403]);
    expect(reports.map(({ keyIndex }) => keyIndex)).toEqual([0, 1, undefined]);
  });

  test('a source that changes its keys is followed', async () => {
    let keys: readonly Key[] = ['old'];
    const { receiver, reports } = receiverWithReports({ signingKey: async () => keys });
    const url = await serve(receiver);
    const send = async (key: Key): Promise<number> =>
      (await deliver(url, createEvent('dispute.won'), { key })).status;
    expect(await send('new')).toBe(403);
    keys = ['new', 'old'];
    expect([await send('new'), await send('old')]).toEqual([200, 200]);
    keys = ['new'];
    expect([await send('new'), await send('old')]).toEqual([200, 403]);
    expect(reports.map(({ keyIndex }) => keyIndex)).toEqual([undefined, 0, 1, 0, undefined]);
  });

  test('keys are imported once: what is done to the bytes later changes nothing', async () => {
    const bytes = Buffer.from('secret');
    const { receiver } = receiverWithReports({ signingKey: bytes });
    bytes.fill(0);
    const event = JSON.stringify(createEvent('dispute.won'));
    await expect(receiver.verify(event, signedHeaders(event, { key: 'secret' }))).resolves.toBeDefined();
    await expect(receiver.verify(event, signedHeaders(event, { key: bytes }))).rejects.toThrow();
  });
});
