import { createMemoryStore, createReceiver, type HandlerContext, type Store } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { deliveryOf } from '../support/delivery-of.ts';
import { fakeTimers } from '../support/fake-time.ts';
import { KEY } from '../support/served.ts';
import { unanswered } from '../support/unanswered.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

function createDefault() {
  return createReceiver({ signingKey: KEY }).observe(() => {});
}

function isPending(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  return Promise.race([promise, Promise.resolve(pending)]).then((first) => first === pending);
}

describe('without options, times are', () => {
  beforeEach(() => {
    fakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
  });

  test('deadlineMs 25,000 and maxRunMs 240,000', async () => {
    const contexts: HandlerContext[] = [];
    const receiver = createDefault().on('*', (_event, context) => {
      contexts.push(context);
      return unanswered();
    });
    const answer = receiver.receive(deliveryOf(createEvent('transfer.created')));
    await vi.advanceTimersByTimeAsync(24_999);
    expect(await isPending(answer)).toBe(true);
    await vi.advanceTimersByTimeAsync(1);
    const { status, headers, body } = await answer;
    expect([status, headers['retry-after'], JSON.parse(body).code]).toEqual([503, '60', 'deadline_reached']);
    const [context] = contexts;
    expect(context && context.deadlineAt - context.receivedAt).toBe(25_000);
    expect(context?.signal.aborted, 'the deadline aborts nothing').toBe(false);
    await vi.advanceTimersByTimeAsync(240_000 - 25_000 - 1);
    expect(context?.signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(context?.signal.reason).toMatchObject({ name: 'AbortedError', code: 'run_timeout' });
  });

  test('bodyTimeoutMs 10,000', async () => {
    const receiver = createDefault().on('*', () => {});
    const delivery = { ...deliveryOf(createEvent('transfer.created')), readBody: unanswered };
    const answer = receiver.receive(delivery);
    await vi.advanceTimersByTimeAsync(9_999);
    expect(await isPending(answer)).toBe(true);
    await vi.advanceTimersByTimeAsync(1);
    expect(await answer).toMatchObject({ status: 408, close: true });
  });

  test('leaseMs 20,000, renewed every third of it, and retentionMs a day', async () => {
    const calls: string[] = [];
    const memory = createMemoryStore();
    const store: Store = {
      claim: (request) => {
        calls.push(`claim ${request.leaseMs}`);
        expect(request.retentionMs).toBeGreaterThanOrEqual(DAY);
        return memory.claim(request);
      },
      renew: (request) => {
        calls.push(`renew ${request.leaseMs}`);
        expect(request.retentionMs).toBeGreaterThanOrEqual(DAY);
        return memory.renew(request);
      },
      complete: memory.complete,
      release: memory.release,
    };
    const receiver = createReceiver({ signingKey: KEY, store }).observe(() => {});
    const finish: (() => void)[] = [];
    receiver.on('*', () => new Promise<void>((resolve) => finish.push(resolve)));
    const answer = receiver.receive(deliveryOf(createEvent('transfer.created')));
    await vi.advanceTimersByTimeAsync(6_600);
    expect(calls).toEqual(['claim 20000']);
    await vi.advanceTimersByTimeAsync(100);
    expect(calls).toEqual(['claim 20000', 'renew 20000']);
    await vi.advanceTimersByTimeAsync(6_700);
    expect(calls).toEqual(['claim 20000', 'renew 20000', 'renew 20000']);
    for (const resolve of finish) resolve();
    expect(await answer).toMatchObject({ status: 200 });
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(calls, 'no renewal after the end').toHaveLength(3);
  });

  test('retryScheduleMs 1, 5 and 15 minutes: final by age at nine tenths of the last', async () => {
    const finals: boolean[] = [];
    const receiver = createDefault().on('*', (_event, { final }) => finals.push(final));
    for (const ageMs of [0, 13.5 * MINUTE - 1, 13.5 * MINUTE]) {
      const created_at = new Date(Date.now() - ageMs).toISOString();
      await receiver.receive(deliveryOf({ ...createEvent('transfer.created'), created_at }));
    }
    expect(finals).toEqual([false, false, true]);
  });

  test('retryScheduleMs: final by count at the fourth attempt', async () => {
    const finals: boolean[] = [];
    const receiver = createDefault().on('*', (_event, { final }) => {
      finals.push(final);
      throw new Error('again');
    });
    const event = createEvent('transfer.created');
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      expect(await receiver.receive(deliveryOf(event))).toMatchObject({ status: 500 });
      await vi.advanceTimersByTimeAsync(MINUTE);
    }
    expect(finals).toEqual([false, false, false, true]);
  });
});

describe('without options, sizes are', () => {
  test('maxBodyBytes 1,048,576: declared or sent', async () => {
    const receiver = createDefault().on('*', () => {});
    const event = createEvent('transfer.created', { note: '' });
    const padding = 1_048_576 - JSON.stringify(event).length;
    const bodyOf = (length: number): string =>
      JSON.stringify({ ...event, data: { note: 'x'.repeat(length) } });
    const declared = (length: number) => ({ 'content-length': [String(length)] });
    expect(await receiver.receive(deliveryOf(bodyOf(padding + 1)))).toMatchObject({ status: 413 });
    const tooLarge = deliveryOf(bodyOf(padding), declared(1_048_577));
    expect(await receiver.receive(tooLarge)).toMatchObject({ status: 413, close: true });
    const largest = deliveryOf(bodyOf(padding), declared(1_048_576));
    expect(await receiver.receive(largest)).toMatchObject({ status: 200 });
  });

  test('maxBufferedBytes 64 MiB: beyond it the unfinished body with the least recent progress gets 503', async () => {
    const receiver = createDefault().on('*', () => {});
    const begin = async () => {
      const delivery = deliveryOf(createEvent('transfer.created'));
      let arrive: (() => void) | undefined;
      const replying = receiver.receive({
        ...delivery,
        readBody: async (options) => {
          options.onProgress?.(1_048_576);
          await new Promise<void>((resolve) => {
            arrive = resolve;
          });
          return delivery.readBody(options);
        },
      });
      await until('the body is being read', () => arrive !== undefined);
      return { replying, arrive: () => arrive?.() };
    };
    const first = await begin();
    const rest = await Promise.all(Array.from({ length: 63 }, begin));
    const whole = await receiver.receive(deliveryOf(createEvent('transfer.created')));
    expect(whole, 'a whole one goes through').toMatchObject({ status: 200 });
    const { status, body } = await first.replying;
    expect([status, JSON.parse(body).code]).toEqual([503, 'buffer_full']);
    for (const { arrive } of rest) arrive();
    for (const { replying } of rest) expect((await replying).status).toBe(200);
  });
});

describe('without options', () => {
  test('the signature is read from x-service-signature, and no credentials are asked for', async () => {
    const receiver = createDefault().on('*', () => {});
    const delivery = deliveryOf(createEvent('transfer.created'));
    expect(delivery.headers).toHaveProperty('x-service-signature');
    expect(await receiver.receive(delivery)).toMatchObject({ status: 200 });
  });

  test.each([
    { retryScheduleMs: undefined, seconds: '60' },
    { retryScheduleMs: [], seconds: '60' },
    { retryScheduleMs: [1_200_000], seconds: '1200' },
    { retryScheduleMs: [1_200_001, 2_000_000], seconds: '1201' },
  ])('Retry-After has the first delay of $retryScheduleMs in seconds: $seconds', async (row) => {
    const { retryScheduleMs, seconds } = row;
    const receiver = createReceiver({ signingKey: KEY, ...(retryScheduleMs && { retryScheduleMs }) });
    const reply = await receiver.observe(() => {}).receive(deliveryOf(createEvent('transfer.created')));
    expect(reply).toMatchObject({ status: 503, headers: { 'retry-after': seconds } });
  });

  test('an unreachable store gets 503, and no handler runs', async () => {
    const refuse = (): Promise<never> => Promise.reject(new Error('ECONNREFUSED'));
    const store: Store = { claim: refuse, renew: refuse, complete: refuse, release: refuse };
    const seen: unknown[] = [];
    const receiver = createReceiver({ signingKey: KEY, store }).observe(() => {});
    receiver.on('*', (event) => seen.push(event));
    const { status, headers, body } = await receiver.receive(deliveryOf(createEvent('transfer.created')));
    expect([status, headers['retry-after'], JSON.parse(body).code]).toEqual([503, '60', 'store_unavailable']);
    expect(seen).toEqual([]);
  });
});
