import type { Attributes } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-node';
import { PosthornError, type Receiver } from 'posthorn';
import { observeWithOpenTelemetry } from 'posthorn/opentelemetry';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, test, vi } from 'vitest';
import { deliveryOf } from '../support/delivery-of.ts';
import { fakeTimers } from '../support/fake-time.ts';
import { letterOf } from '../support/letter-of.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { openDirectly, openEndpoint } from '../support/open-endpoint.ts';
import { useOpenTelemetry } from './opentelemetry-sdk.ts';

/** The length of texts that leave the process, and the sign that one was cut. */
const MOST_CHARACTERS = 2_000 + 1;

const event = createEvent('transfer.succeeded');

function textsOf(attributes: Attributes = {}): string[] {
  return Object.values(attributes)
    .flat()
    .filter((value) => typeof value === 'string');
}

/** All texts of a span. */
function textsIn({ name, attributes, events, status }: ReadableSpan): string[] {
  const exceptions = events.flatMap((each) => textsOf(each.attributes));
  return [name, status.message ?? '', ...textsOf(attributes), ...exceptions];
}

function observed(receiver: Receiver): void {
  observeWithOpenTelemetry(receiver);
  receiver.on('*', () => {});
}

/** Sends a delivery whose message quotes 16 KB of a stranger, which becomes longer still in its words. */
function strangersHeaders(): Record<string, readonly string[]> {
  const codings = Array.from({ length: 1_000 }, (_, index) => `${index}\u0000-coding`);
  return { 'x-service-signature': ['a'.repeat(64)], 'content-encoding': codings };
}

describe('texts that leave the process are cut', () => {
  test('whatever a stranger sends: in the report, its exception and its status', async () => {
    const { spans } = useOpenTelemetry();
    const { receiver, reports } = openDirectly({}, observed);
    const { status } = await receiver.receive({
      method: 'POST',
      headers: strangersHeaders(),
      readBody: async () => Buffer.from('{}'),
    });
    expect(status).toBe(415);
    expect(reports.all[0]?.error?.message.length).toBe(MOST_CHARACTERS);
    const [span] = spans();
    if (span === undefined) throw new Error('no span');
    expect(span.events).toHaveLength(1);
    for (const text of textsIn(span)) expect(text.length).toBeLessThanOrEqual(MOST_CHARACTERS);
  });

  test('whatever a handler is called and throws: on its span, in its letter', async () => {
    const { spans } = useOpenTelemetry();
    const deadLetters = createMapDeadLetters();
    const { send } = await openEndpoint({ deadLetters, retryScheduleMs: [1, 1, 1] }, (receiver) => {
      observeWithOpenTelemetry(receiver);
      receiver.on(
        '*',
        () => {
          const error = new Error('m'.repeat(100_000));
          error.name = 'n'.repeat(100_000);
          throw error;
        },
        { name: 'h'.repeat(100_000) },
      );
    });
    const old = { ...event, created_at: new Date(Date.now() - 3_600_000).toISOString() };
    expect(await send(old)).toMatchObject({ body: { outcome: 'parked' } });
    expect(spans()).toHaveLength(2);
    for (const text of spans().flatMap(textsIn)) expect(text.length).toBeLessThanOrEqual(MOST_CHARACTERS);
    expect((await letterOf(deadLetters, old.id)).message.length).toBeLessThanOrEqual(MOST_CHARACTERS);
  });

  test('in every error of the package', () => {
    const error = new PosthornError('internal_error', 'x'.repeat(80_000));
    expect(error.message).toBe(`${'x'.repeat(2_000)}…`);
    expect(error.stack?.length).toBeLessThan(10_000);
  });
});

describe('exceptions of deliveries obey the limit of the log', () => {
  /** How many spans there are with a code, and how many of them have an exception. */
  function countsOf(spans: readonly ReadableSpan[], code: string): { spans: number; exceptions: number } {
    const those = spans.filter(({ attributes }) => attributes['error.type'] === code);
    return { spans: those.length, exceptions: those.flatMap(({ events }) => events).length };
  }

  test('which leaves the spans and the metrics of a flood, and counts each code apart', async () => {
    const { spans, points } = useOpenTelemetry();
    const { url } = await openEndpoint({}, observed);
    for (let sent = 0; sent < 40; sent += 1) {
      expect((await deliver(url, event, { key: 'guessed' })).status).toBe(403);
      expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(403);
    }
    expect(countsOf(spans(), 'signature_mismatch')).toEqual({ spans: 40, exceptions: 5 });
    expect(countsOf(spans(), 'signature_missing')).toEqual({ spans: 40, exceptions: 5 });
    const deliveries = (await points()).filter(({ metric }) => metric === 'posthorn.deliveries');
    expect(deliveries.map(({ count }) => count)).toEqual([40, 40]);
  });

  test('which tells of them again after a minute', async () => {
    const { spans } = useOpenTelemetry();
    fakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const { receiver } = openDirectly({}, observed);
    const unsigned = { ...deliveryOf(event), headers: {} };
    for (let sent = 0; sent < 8; sent += 1) await receiver.receive(unsigned);
    expect(countsOf(spans(), 'signature_missing')).toEqual({ spans: 8, exceptions: 5 });
    vi.advanceTimersByTime(60_000);
    for (let sent = 0; sent < 8; sent += 1) await receiver.receive(unsigned);
    expect(countsOf(spans(), 'signature_missing')).toEqual({ spans: 16, exceptions: 10 });
  });

  test('and events of the service have all of theirs', async () => {
    const { spans } = useOpenTelemetry();
    const { send } = await openEndpoint({}, (receiver) => {
      observeWithOpenTelemetry(receiver);
      receiver.on('*', () => Promise.reject(new Error('locked')));
    });
    for (let sent = 0; sent < 12; sent += 1) await send(createEvent('transfer.succeeded'));
    expect(countsOf(spans(), 'handler_failed')).toEqual({ spans: 12, exceptions: 12 });
  });
});
