import { SpanKind, trace } from '@opentelemetry/api';
import { ConfigurationError, createReceiver, PermanentError, type Receiver } from 'posthorn';
import { toNode } from 'posthorn/node';
import { observeWithOpenTelemetry } from 'posthorn/opentelemetry';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { ListQueue } from '../receiver/queue/list-queue.ts';
import { deliveryOf } from '../support/delivery-of.ts';
import { shutGate } from '../support/gate.ts';
import { handledEntry } from '../support/handled-entry.ts';
import { HeldHandler } from '../support/held-handler.ts';
import { letterOf } from '../support/letter-of.ts';
import { listenUntilTheEnd } from '../support/listen.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { type EndpointOptions, eventAt, on, openEndpoint } from '../support/open-endpoint.ts';
import { KEY } from '../support/served.ts';
import { throwing } from '../support/throwing.ts';
import { unanswered } from '../support/unanswered.ts';
import { durationMsOf, isFailed, spanOf, useOpenTelemetry } from './opentelemetry-sdk.ts';

const event = createEvent('transfer.succeeded', { id: 'TR_secret_account', amount: 123_456_789 });
const HOUR_MS = 3_600_000;

/** An observed endpoint; everything about it is collected. */
async function open(register: (receiver: Receiver) => unknown, options: EndpointOptions = {}) {
  const collected = useOpenTelemetry();
  const endpoint = await openEndpoint(options, (receiver) => {
    observeWithOpenTelemetry(receiver);
    register(receiver);
  });
  return { ...endpoint, ...collected };
}

describe('a delivery is a span', () => {
  test('below that of the HTTP server, with one for each handler, and those that handlers make below', async () => {
    const collected = useOpenTelemetry();
    const tracer = trace.getTracer('test');
    const receiver = createReceiver({ signingKey: KEY });
    observeWithOpenTelemetry(receiver);
    const work = (name: string) => async (): Promise<void> => {
      await new Promise(setImmediate);
      tracer.startActiveSpan(name, (span) => span.end());
    };
    receiver.on('transfer.*', work('insert'), { name: 'book' }).on('transfer.*', work('fetch'));
    const mounted = toNode(receiver);
    const url = await listenUntilTheEnd((request, response) =>
      // What the instrumentation of node:http does.
      tracer.startActiveSpan('POST', { kind: SpanKind.SERVER }, (span) => {
        response.once('close', () => span.end());
        mounted(request, response);
      }),
    );
    const response = await deliver(url, event, { key: KEY });
    expect(response.status).toBe(200);
    await expect.poll(() => collected.spans().length).toBe(6);
    expect(collected.tree()).toEqual([
      'POST',
      'POST > process transfer.succeeded',
      'POST > process transfer.succeeded > handle',
      'POST > process transfer.succeeded > handle > fetch',
      'POST > process transfer.succeeded > handle book',
      'POST > process transfer.succeeded > handle book > insert',
    ]);
  });

  test('with the attributes of the conventions, and of the report', async () => {
    const { reports, send, ...collected } = await open(on('transfer.*', () => {}, { name: 'book' }));
    await send(event);
    const span = spanOf(collected, 'process transfer.succeeded');
    expect(span.instrumentationScope.name).toBe('posthorn');
    expect(span.kind).toBe(SpanKind.CONSUMER);
    expect(isFailed(span)).toBe(false);
    expect(span.attributes).toEqual({
      'messaging.system': 'posthorn',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': 'transfer.succeeded',
      'messaging.message.id': event.id,
      'http.response.status_code': 200,
      'posthorn.event.type': 'transfer.succeeded',
      'posthorn.provider': 'banking-service',
      'posthorn.source': 'delivery',
      'posthorn.outcome': 'processed',
      'posthorn.attempt': 1,
      'posthorn.final': false,
      'posthorn.late': false,
      'posthorn.answer_sent': true,
      'posthorn.endpoint_at_risk': false,
      'posthorn.signing_key.index': 0,
      'posthorn.warnings': ['dead_letters_missing'],
    });
    const [report] = reports.all;
    expect(span.startTime[0] * 1_000 + span.startTime[1] / 1e6).toBeCloseTo(report?.receivedAt ?? 0, 1);
    expect(durationMsOf(span)).toBeCloseTo(report?.durationMs ?? 0, 1);
    const handler = spanOf(collected, 'handle book');
    expect(handler.kind).toBe(SpanKind.INTERNAL);
    expect(handler.attributes).toEqual({ 'posthorn.handler.name': 'book' });
  });

  test('whose name does not grow with types that the catalog lacks, or with ids', async () => {
    const { send, ...collected } = await open(on('*', () => {}));
    const odd = { ...createEvent('transfer.no_such_type', undefined, { any: true }), id: 'x'.repeat(5_000) };
    await send(odd);
    const span = spanOf(collected, 'process other');
    expect(span.attributes).toMatchObject({
      'messaging.destination.name': 'other',
      'posthorn.event.type': 'transfer.no_such_type',
    });
    expect(String(span.attributes['messaging.message.id']).length).toBeLessThan(300);
  });

  test('also where its handlers go on after the answer: their spans are below it, and their end is another one', async () => {
    const held = new HeldHandler();
    const { reports, send, ...collected } = await open(on('transfer.*', held.handle, { name: 'book' }), {
      deadlineMs: 200,
    });
    const answer = send(event);
    const call = await held.calls.nth(1);
    expect(await answer).toMatchObject({ status: 503 });
    const delivery = spanOf(collected, 'process transfer.succeeded');
    expect(isFailed(delivery)).toBe(true);
    expect(delivery.attributes).toMatchObject({
      'posthorn.outcome': 'failed',
      'error.type': 'deadline_reached',
      'http.response.status_code': 503,
      'posthorn.late': false,
    });
    call.succeed();
    await reports.first(({ late }) => late);
    expect(collected.tree()).toEqual([
      'process transfer.succeeded',
      'process transfer.succeeded > handle book',
      'process transfer.succeeded > process transfer.succeeded',
    ]);
    const late = collected.spans().at(-1);
    expect(late?.attributes).toMatchObject({ 'posthorn.outcome': 'processed', 'posthorn.late': true });
    expect(late?.attributes).not.toHaveProperty('http.response.status_code');
    expect(isFailed(spanOf(collected, 'handle book'))).toBe(false);
  });

  test('also where its handlers only begin after the answer: then it has a second one for them', async () => {
    const gate = shutGate();
    const transfer = {
      '~standard': {
        version: 1 as const,
        vendor: 'test',
        validate: async (value: unknown) => gate.pass().then(() => ({ value })),
      },
    };
    const collected = useOpenTelemetry();
    const { reports, send } = await openEndpoint({ deadlineMs: 200, schemas: { transfer } }, (receiver) => {
      observeWithOpenTelemetry(receiver);
      receiver.on('transfer.*', () => {}, { name: 'book' });
    });
    expect(await send(event)).toMatchObject({ status: 503 });
    gate.open();
    await reports.first(({ late }) => late);
    expect(collected.tree()).toEqual([
      'process transfer.succeeded',
      'process transfer.succeeded',
      'process transfer.succeeded > handle book',
    ]);
    expect(collected.spans().map(({ attributes }) => attributes['posthorn.late'])).toEqual([
      false,
      undefined,
      true,
    ]);
  });

  test('and a handler that is deaf to its signal has a span that ends with the run', async () => {
    const { reports, send, ...collected } = await open(
      (receiver) => receiver.on('transfer.*', unanswered, { name: 'deaf' }),
      { deadlineMs: 100, maxRunMs: 200 },
    );
    expect(await send(event)).toMatchObject({ status: 503 });
    await reports.first(({ late }) => late);
    const handler = spanOf(collected, 'handle deaf');
    expect(isFailed(handler)).toBe(true);
    expect(handler.attributes).toMatchObject({ 'error.type': 'run_timeout' });
  });

  test('and nothing begins when a run that is over goes on to the queue', async () => {
    const held = new HeldHandler();
    const queue = new ListQueue();
    const { reports, send, ...collected } = await open(
      (receiver) =>
        receiver
          .on('transfer.*', held.handle, { name: 'check' })
          .on('transfer.*', () => {}, { name: 'book', queue: true }),
      { deadlineMs: 100, maxRunMs: 200, queue },
    );
    expect(await send(event)).toMatchObject({ status: 503 });
    await reports.first(({ late }) => late);
    const tree = collected.tree();
    expect(tree).toContain('process transfer.succeeded > handle check');
    (await held.calls.nth(1)).succeed();
    await expect.poll(() => queue.calls).toBe(1);
    await new Promise(setImmediate);
    expect(collected.tree()).toEqual(tree);
  });

  test('and each duplicate that joins its run has one of its own, without handlers', async () => {
    const held = new HeldHandler();
    const { receiver, send, ...collected } = await open(on('transfer.*', held.handle, { name: 'book' }));
    const answer = send(event);
    const call = await held.calls.nth(1);
    expect(await receiver.receive({ ...deliveryOf(event), timeLimitMs: 100 })).toMatchObject({ status: 503 });
    call.succeed();
    await answer;
    expect(collected.tree()).toEqual([
      'process transfer.succeeded',
      'process transfer.succeeded',
      'process transfer.succeeded > handle book',
    ]);
    const outcomes = collected.spans().map(({ attributes }) => attributes['posthorn.outcome']);
    expect(outcomes).toEqual(['busy', undefined, 'processed']);
  });
});

test('a replay is a span of its own time, whenever its letter was received', async () => {
  let fails = true;
  const deadLetters = createMapDeadLetters();
  const { receiver, send, ...collected } = await open(
    (opened) =>
      opened.on('transfer.*', () => {
        if (fails) throw new PermanentError('no such account');
      }),
    { deadLetters },
  );
  await send(event);
  fails = false;
  const letter = { ...(await letterOf(deadLetters, event.id)), receivedAt: Date.now() - HOUR_MS };
  await receiver.replay(letter);
  const replayed = collected.spans().at(-1);
  if (replayed === undefined) throw new Error('no span');
  expect(replayed.attributes).toMatchObject({ 'posthorn.source': 'replay', 'posthorn.outcome': 'processed' });
  expect(replayed.attributes).not.toHaveProperty('http.response.status_code');
  expect(durationMsOf(replayed)).toBeLessThan(HOUR_MS / 2);
  expect(collected.tree()).toHaveLength(4);
});

test('a rerun is a span that has its name', async () => {
  const { receiver, ...collected } = await open((opened) => opened.on('*', () => {}, { name: 'book' }));
  await receiver.rerun(handledEntry(event), { handlers: ['book'], run: 'fix' });
  expect(collected.spans().at(-1)?.attributes).toMatchObject({
    'posthorn.source': 'rerun',
    'posthorn.rerun': 'fix',
    'posthorn.outcome': 'processed',
  });
});

test('a queued event is one trace: the delivery, the way into the queue, the worker, its handler', async () => {
  const queue = new ListQueue();
  const { receiver, send, ...collected } = await open(
    (opened) =>
      opened
        .on('transfer.*', () => {}, { name: 'log' })
        .on('transfer.*', () => {}, { name: 'book', queue: true }),
    { queue },
  );
  expect(await send(event)).toMatchObject({ status: 202 });
  await receiver.dispatch(queue.take(), { attempt: 1, final: false });
  const top = 'process transfer.succeeded';
  expect(collected.tree()).toEqual([
    top,
    `${top} > enqueue transfer.succeeded`,
    `${top} > enqueue transfer.succeeded > ${top}`,
    `${top} > enqueue transfer.succeeded > ${top} > handle book`,
    `${top} > handle log`,
  ]);
  const enqueue = spanOf(collected, 'enqueue transfer.succeeded');
  expect(enqueue.kind).toBe(SpanKind.PRODUCER);
  expect(enqueue.attributes).toMatchObject({
    'messaging.operation.name': 'enqueue',
    'messaging.operation.type': 'send',
    'messaging.message.id': event.id,
  });
  const worker = collected.spans().at(-1);
  expect(worker?.kind).toBe(SpanKind.CONSUMER);
  expect(worker?.attributes).toMatchObject({ 'posthorn.source': 'job', 'posthorn.outcome': 'processed' });
  expect(worker?.links.map((link) => link.context.spanId)).toEqual([enqueue.spanContext().spanId]);
  expect(new Set(collected.spans().map((span) => span.spanContext().traceId)).size).toBe(1);
});

test('a span that is active in the worker is linked, and the delivery stays the parent', async () => {
  const queue = new ListQueue();
  const { receiver, send, ...collected } = await open(
    (opened) => opened.on('transfer.*', () => {}, { name: 'book', queue: true }),
    { queue },
  );
  await send(event);
  const job = queue.take();
  await trace.getTracer('test').startActiveSpan('poll', async (span) => {
    await receiver.dispatch(job, { attempt: 1, final: false });
    span.end();
  });
  const linked = collected.spans().find(({ links }) => links.length > 0)?.links;
  expect(linked?.map((link) => link.context.spanId)).toEqual(
    ['enqueue transfer.succeeded', 'poll'].map((name) => spanOf(collected, name).spanContext().spanId),
  );
});

describe('every outcome', () => {
  interface Case {
    readonly outcome: string;
    readonly code?: string;
    readonly failed: boolean;
    readonly entity?: string;
    readonly options?: EndpointOptions;
    readonly send: (endpoint: Awaited<ReturnType<typeof open>>) => Promise<unknown>;
    readonly handle?: () => unknown;
  }
  const fail = throwing('locked');
  const entity = 'transfer';
  const cases: readonly Case[] = [
    { outcome: 'processed', failed: false, entity, send: ({ send }) => send(event) },
    {
      outcome: 'ignored',
      failed: false,
      entity: 'dispute',
      send: ({ send }) => send(createEvent('dispute.won')),
    },
    {
      outcome: 'ignored',
      failed: false,
      entity: 'other',
      send: ({ send }) => send(createEvent('invented.created', undefined, { any: true })),
    },
    {
      ...{ outcome: 'queued', failed: false, entity: 'merchant', options: { queue: new ListQueue() } },
      send: ({ send }) => send(createEvent('merchant.created')),
    },
    {
      outcome: 'failed',
      code: 'handler_failed',
      failed: true,
      entity,
      handle: fail,
      send: ({ send }) => send(event),
    },
    {
      ...{ outcome: 'parked', code: 'handler_failed', failed: true, entity, handle: fail },
      options: { deadLetters: createMapDeadLetters() },
      send: ({ send }) => send(eventAt(Date.now() - HOUR_MS)),
    },
    {
      ...{ outcome: 'rejected', code: 'signature_mismatch', failed: false },
      send: ({ url }) => deliver(url, event, { key: 'another' }),
    },
    {
      ...{ outcome: 'rejected', code: 'event_too_old', failed: false, entity },
      send: ({ send }) => send(eventAt(Date.now() - 48 * HOUR_MS)),
    },
    {
      ...{ outcome: 'failed', code: 'closing', failed: true, entity },
      send: async ({ receiver, send }) => {
        void receiver.close();
        return send(event);
      },
    },
  ];
  test.each(cases)('$outcome $code is one span, and counted once ($entity)', async (of) => {
    const endpoint = await open((receiver) => {
      receiver.on('transfer.*', of.handle ?? (() => {}));
      if (of.options?.queue !== undefined)
        receiver.on('merchant.*', () => {}, { name: 'verify', queue: true });
    }, of.options);
    await of.send(endpoint);
    const spans = endpoint.spans().filter(({ name }) => name.startsWith('process'));
    expect(spans.map(isFailed)).toEqual([of.failed]);
    const status = endpoint.reports.all[0]?.status;
    expect(spans[0]?.attributes).toMatchObject({
      'posthorn.outcome': of.outcome,
      ...(of.code && { 'error.type': of.code }),
      'http.response.status_code': status,
    });
    const attributes = {
      'posthorn.provider': 'banking-service',
      'posthorn.source': 'delivery',
      'posthorn.outcome': of.outcome,
      ...(of.code && { 'error.type': of.code }),
      ...(of.entity && { 'posthorn.entity': of.entity }),
    };
    const points = await endpoint.points();
    for (const metric of ['posthorn.deliveries', 'posthorn.delivery.duration']) {
      expect(points.filter((point) => point.metric === metric)).toEqual([{ metric, count: 1, attributes }]);
    }
  });

  test('an event that is busy or a duplicate is one span, and counted once', async () => {
    const held = new HeldHandler();
    const { points, reports, send } = await open(on('transfer.*', held.handle), {
      deadlineMs: 300,
    });
    const answers = [send(event)];
    const call = await held.calls.nth(1);
    answers.push(send(event));
    await Promise.all(answers);
    call.succeed();
    await reports.first(({ late }) => late);
    await send(event);
    const counted = (await points())
      .filter(({ metric }) => /^posthorn\.(deliveries|late_ends)$/.test(metric))
      .map(({ metric, count, attributes }) => [metric, attributes['posthorn.outcome'], count]);
    expect(counted).toEqual(
      expect.arrayContaining([
        ['posthorn.deliveries', 'failed', 1],
        ['posthorn.deliveries', 'busy', 1],
        ['posthorn.deliveries', 'duplicate', 1],
        ['posthorn.late_ends', 'processed', 1],
      ]),
    );
    expect(counted).toHaveLength(4);
  });
});

test('metrics tell handlers by name, warnings by code and the endpoint at risk, and never an id', async () => {
  let fails = true;
  const { points, send } = await open((receiver) =>
    receiver
      .on('transfer.*', () => {}, { name: 'book' })
      .on('transfer.*', () => {
        if (fails) throw new PermanentError('no such account');
      }),
  );
  const old = eventAt(Date.now() - HOUR_MS);
  await send(old);
  fails = false;
  await send(old);
  const all = await points();
  const provider = { 'posthorn.provider': 'banking-service' };
  const of = (metric: string) =>
    all.filter((point) => point.metric === metric).map(({ count, attributes }) => ({ count, ...attributes }));
  expect(of('posthorn.handler.duration')).toEqual([
    { count: 1, ...provider, 'posthorn.handler.name': 'book' },
    { count: 1, ...provider, 'error.type': 'handler_failed_permanently' },
    { count: 1, ...provider },
  ]);
  expect(of('posthorn.warnings')).toEqual([
    { count: 1, ...provider, 'posthorn.warning.code': 'dead_letters_missing' },
  ]);
  expect(of('posthorn.endpoint_at_risk')).toMatchObject([{ count: 1, 'posthorn.entity': 'transfer' }]);
  expect(JSON.stringify(all)).not.toContain(old.id);
});

test('a wait for a key is on the span of the event, and measured once for each handler', async () => {
  const held = new HeldHandler();
  const { points, reports, send, ...collected } = await open(
    (receiver) =>
      receiver
        .on('transfer.*', () => {}, { name: 'book', concurrencyKey: () => 'TR_1' })
        .on('transfer.*', held.handle, { name: 'log' }),
    { deadlineMs: 100 },
  );
  expect(await send(event)).toMatchObject({ status: 503 });
  (await held.calls.nth(1)).succeed();
  const { handlers } = await reports.first(({ late }) => late);
  const seconds = (handlers[0]?.keyWaitMs ?? Number.NaN) / 1_000;
  const waits = (await points()).filter(({ metric }) => metric === 'posthorn.handler.key_wait');
  expect(waits).toMatchObject([{ count: 1, attributes: { 'posthorn.handler.name': 'book' } }]);
  const spans = collected.spans().filter(({ name }) => name === 'process transfer.succeeded');
  expect(spans.map(({ attributes }) => attributes['posthorn.key_wait'])).toEqual([seconds, seconds]);
});

test('durations have buckets from a millisecond to maxRunMs, on which rules and dashboards are built', async () => {
  const { boundaries, send } = await open(on('transfer.*', () => {}));
  await send(event);
  const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60, 240];
  expect(await boundaries()).toEqual([buckets, buckets]);
});

test('an endpoint at risk is counted once, where the run fails after its answer', async () => {
  const held = new HeldHandler();
  const { points, reports, send } = await open(on('transfer.*', held.handle), {
    deadlineMs: 100,
  });
  expect(await send(eventAt(Date.now() - HOUR_MS))).toMatchObject({ status: 503 });
  (await held.calls.nth(1)).fail(new Error('too late'));
  expect(await reports.first(({ late }) => late)).toMatchObject({ endpointAtRisk: true });
  const atRisk = (await points()).filter(({ metric }) => metric === 'posthorn.endpoint_at_risk');
  expect(atRisk).toMatchObject([{ count: 1 }]);
});

test('what a handler throws is recorded on its span; nothing of payload, keys and headers is anywhere', async () => {
  class LedgerError extends Error {
    override readonly name = 'LedgerError';
  }
  const { reports, send, points, ...collected } = await open(
    on('transfer.*', throwing(new LedgerError('the ledger is locked')), { name: 'book' }),
    { authentication: { type: 'BEARER', bearer: { token: 'token-of-the-service' } } },
  );
  await send(event, { authorization: 'Bearer token-of-the-service', 'x-note': 'note-in-a-header' });
  await send(event, { authorization: 'Bearer guessed-token' });
  const handler = spanOf(collected, 'handle book');
  expect(handler.attributes).toMatchObject({ 'error.type': 'LedgerError' });
  expect(handler.status).toMatchObject({ message: 'the ledger is locked' });
  expect(handler.events).toMatchObject([
    {
      name: 'exception',
      attributes: {
        'exception.type': 'LedgerError',
        'exception.message': 'the ledger is locked',
        'exception.stacktrace': expect.stringContaining('opentelemetry.test.ts'),
      },
    },
  ]);
  const delivery = spanOf(collected, 'process transfer.succeeded');
  expect(delivery.status).toMatchObject({ message: reports.all[0]?.error?.message });
  const exported = collected.spans().map(({ name, attributes, events, status, links }) => ({
    ...{ name, attributes, events, status, links },
  }));
  const text = JSON.stringify([exported, await points()]);
  expect(text).toContain('LedgerError');
  for (const secret of [KEY, 'token-of', 'guessed-token', 'note-in-a-header', 'TR_secret', '123456789'])
    expect(text).not.toContain(secret);
});

test('providers of its own take the place of the global ones', async () => {
  const { meterProvider, tracerProvider, ...collected } = useOpenTelemetry();
  trace.disable();
  const { send } = await openEndpoint({}, (receiver) => {
    observeWithOpenTelemetry(receiver, { tracerProvider, meterProvider });
    receiver.on('transfer.*', () => {}, { name: 'book' });
  });
  await send(event);
  expect(collected.tree()).toEqual([
    'process transfer.succeeded',
    'process transfer.succeeded > handle book',
  ]);
  expect(await collected.points()).not.toEqual([]);
});

test('without an SDK nothing is lost and nothing is made', async () => {
  const { send } = await openEndpoint({}, (receiver) => {
    observeWithOpenTelemetry(receiver);
    receiver.on('transfer.*', () => {}, { name: 'book' });
  });
  expect(await send(event)).toMatchObject({ status: 200 });
});

describe('observeWithOpenTelemetry throws ConfigurationError for', () => {
  const receiver = createReceiver({ signingKey: KEY });
  const wrong: readonly [name: string, parameters: readonly unknown[], message: string][] = [
    ['a value that is not a receiver', [undefined], 'observeWithOpenTelemetry takes a receiver'],
    ['a receiver without observe()', [{ use: () => {} }], 'observeWithOpenTelemetry takes a receiver'],
    [
      'an unknown option',
      [receiver, { tracer: {} }],
      '"tracer" is not an option of observeWithOpenTelemetry',
    ],
    ['a tracer as provider', [receiver, { tracerProvider: { startSpan() {} } }], 'with getTracer()'],
    ['null as provider', [receiver, { meterProvider: null }], 'with getMeter()'],
  ];
  test.each(wrong)('%s', (_name, parameters, message) => {
    const observe = (): unknown => Reflect.apply(observeWithOpenTelemetry, undefined, parameters);
    expect(observe).toThrow(ConfigurationError);
    expect(observe).toThrow(message);
  });

  test('a receiver that has had its first delivery', async () => {
    const opened = await openEndpoint();
    await opened.send(event);
    expect(() => observeWithOpenTelemetry(opened.receiver)).toThrow(ConfigurationError);
  });
});
