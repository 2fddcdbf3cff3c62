import { type ClaimRequest, createMemoryStore, createReceiver, PermanentError } from 'posthorn';
import { github } from 'posthorn/providers';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { HeldHandler } from '../../../support/held-handler.ts';
import { letterOf } from '../../../support/letter-of.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import { accepted, openDirectly } from '../../../support/open-endpoint.ts';
import { readAll } from '../../../support/read-all.ts';
import { Seen } from '../../../support/seen.ts';
import { KEY } from '../../../support/served.ts';
import { openCounting, SOURCE } from './counting.ts';

describe('an event that the application fetched', () => {
  const event = createEvent('transfer.succeeded');
  const json = JSON.stringify(event);

  test.each([
    ['an object', event],
    ['a text', json],
    ['bytes', Buffer.from(json)],
    ['an ArrayBuffer', new Uint8Array(Buffer.from(json)).buffer],
  ])('is handled as %s, and its delivery is then a duplicate', async (_form, given) => {
    const { receiver, reports, runs, send } = openCounting();
    const report = await receiver.accept(given, SOURCE);
    expect(report).toMatchObject({
      outcome: 'processed',
      status: 200,
      source: 'accept',
      acceptedFrom: 'events.list',
      event: { id: event.id, type: event.type },
      attempt: 1,
      final: true,
      answerSent: false,
      endpointAtRisk: false,
      handlers: [{ name: 'book', ok: true }],
    });
    expect(runs.map(([id, { final, rawBody }]) => [id, final, Buffer.from(rawBody).toString()])).toEqual([
      [event.id, true, json],
    ]);
    expect(await send(event)).toEqual(accepted('duplicate', event.id));
    expect(await receiver.accept(given, SOURCE)).toMatchObject({ outcome: 'duplicate', status: 200 });
    expect(runs).toHaveLength(1);
    expect(reports.all.map(({ source }) => source)).toEqual(['accept', 'delivery', 'accept']);
  });

  test('is a duplicate after its delivery', async () => {
    const { receiver, runs, send } = openCounting();
    await send(event);
    expect(await receiver.accept(event, SOURCE)).toMatchObject({ outcome: 'duplicate' });
    expect(runs).toHaveLength(1);
  });

  test('runs through the middlewares, which see where it came from', async () => {
    const seen: unknown[] = [];
    const { receiver } = openDirectly({}, (opened) =>
      opened
        .use((_event, { source }, next) => {
          seen.push(source);
          return next();
        })
        .on('*', () => {}),
    );
    await receiver.accept(event, SOURCE);
    expect(seen).toEqual(['accept']);
  });

  test('does not count as the last delivery of the health', async () => {
    const { receiver } = openCounting();
    await receiver.accept(event, SOURCE);
    expect(await receiver.health()).toMatchObject({ lastDelivery: undefined });
  });

  test('without a handler for its type is ignored, however old it is', async () => {
    const { receiver } = openCounting();
    const old = { ...createEvent('dispute.created'), created_at: '2020-01-01T00:00:00Z' };
    expect(await receiver.accept(old, SOURCE)).toMatchObject({ outcome: 'ignored' });
  });
});

describe('a failure of a handler', () => {
  test('is parked at once, and then left to a replay', async () => {
    const deadLetters = createMapDeadLetters();
    const { receiver, runs, state } = openCounting({ deadLetters });
    const event = createEvent('transfer.succeeded');
    state.failure = new Error('no database');
    const report = await receiver.accept(event, SOURCE);
    expect(report).toMatchObject({ outcome: 'parked', code: 'handler_failed', status: 200 });
    expect(await readAll(deadLetters.list())).toMatchObject([
      { id: event.id, reason: 'handler_failed', attempts: 1 },
    ]);
    state.failure = undefined;
    const again = await receiver.accept(event, SOURCE);
    expect(again).toMatchObject({ outcome: 'parked', code: 'handler_failed', status: 200, handlers: [] });
    expect(again.attempt).toBeUndefined();
    expect(again.error?.message).toContain('no database');
    expect(runs).toHaveLength(1);
    expect(await receiver.replay(await letterOf(deadLetters, event.id))).toMatchObject({
      outcome: 'processed',
      attempt: 2,
    });
    expect(await readAll(deadLetters.list())).toEqual([]);
    expect(await receiver.accept(event, SOURCE)).toMatchObject({ outcome: 'duplicate' });
  });

  test('without dead letters is reported as failed', async () => {
    const { receiver, state } = openCounting();
    state.failure = new PermanentError('never');
    const report = await receiver.accept(createEvent('transfer.succeeded'), SOURCE);
    expect(report).toMatchObject({
      outcome: 'failed',
      code: 'handler_failed_permanently',
      endpointAtRisk: false,
    });
  });

  test('in the run of a delivery that it joined is parked', async () => {
    const deadLetters = createMapDeadLetters();
    const held = new HeldHandler();
    const { receiver, send } = openDirectly({ deadLetters }, (opened) => opened.on('*', held.handle));
    const event = createEvent('transfer.succeeded');
    const delivered = send(event);
    const call = await held.calls.nth(1);
    const fetched = receiver.accept(event, SOURCE);
    call.fail(new Error('no database'));
    expect(await delivered).toHaveProperty('status', 500);
    expect(await fetched).toMatchObject({ outcome: 'parked', code: 'handler_failed' });
    expect(await readAll(deadLetters.list())).toMatchObject([{ id: event.id, attempts: 1 }]);
    expect(held.calls.all).toHaveLength(1);
  });

  test('in a run whose handlers did not begin, because of a limit, is not parked', async () => {
    const deadLetters = createMapDeadLetters();
    const held = new HeldHandler();
    const claims = new Seen<string>();
    const memory = createMemoryStore();
    const claim = (request: ClaimRequest) => {
      claims.add(request.id);
      return memory.claim(request);
    };
    const { receiver, send } = openDirectly(
      { deadLetters, maxRunning: 1, deadlineMs: 400, store: { ...memory, claim } },
      (opened) => opened.on('*', held.handle),
    );
    const before = send(createEvent('transfer.succeeded'));
    const call = await held.calls.nth(1);
    const event = createEvent('transfer.succeeded');
    const delivered = send(event);
    await claims.nth(2);
    expect(await receiver.accept(event, SOURCE)).toMatchObject({
      outcome: 'failed',
      code: 'too_many_running',
    });
    expect(await delivered).toHaveProperty('status', 503);
    call.succeed();
    await before;
    expect(await readAll(deadLetters.list())).toEqual([]);
  });

  test('an event whose concurrency key is taken is busy, and not parked', async () => {
    const deadLetters = createMapDeadLetters();
    const held = new HeldHandler();
    const { receiver } = openDirectly({ deadLetters, deadlineMs: 400 }, (opened) =>
      opened.on('*', held.handle, { name: 'book', concurrencyKey: () => 'one' }),
    );
    const first = receiver.accept(createEvent('transfer.succeeded'), SOURCE);
    const call = await held.calls.nth(1);
    expect(await receiver.accept(createEvent('transfer.succeeded'), SOURCE)).toMatchObject({
      outcome: 'busy',
      code: 'key_busy',
    });
    call.succeed();
    expect(await first).toMatchObject({ outcome: 'processed' });
    expect(await readAll(deadLetters.list())).toEqual([]);
  });

  test('a delivery that joins a successful accept is a duplicate', async () => {
    const held = new HeldHandler();
    const { receiver, send } = openDirectly({}, (opened) => opened.on('*', held.handle));
    const event = createEvent('transfer.succeeded');
    const fetched = receiver.accept(event, SOURCE);
    const call = await held.calls.nth(1);
    const delivered = send(event);
    call.succeed();
    expect(await fetched).toMatchObject({ outcome: 'processed' });
    expect(await delivered).toEqual(accepted('duplicate', event.id));
  });
});

describe('the sender of an accepted event', () => {
  test('may name the event in headers', async () => {
    const handled: unknown[] = [];
    const receiver = createReceiver({ signingKey: KEY, provider: github() }).on(
      '*',
      ({ payload }, { event }) => {
        handled.push([event.id, event.type, payload]);
      },
    );
    const payload = { action: 'opened', number: 7 };
    const headers = { 'X-GitHub-Delivery': 'd-1', 'X-GitHub-Event': 'pull_request' };
    const options = { ...SOURCE, allowForgotten: true };
    expect(await receiver.accept(payload, options)).toMatchObject({ code: 'envelope_invalid' });
    expect(await receiver.accept(payload, { ...options, headers })).toMatchObject({ outcome: 'processed' });
    expect(handled).toEqual([['d-1', 'pull_request.opened', payload]]);
  });

  test('with several accounts needs the account, which is a part of the key', async () => {
    const keys: string[] = [];
    const { receiver } = openDirectly({ account: () => 'm1' }, (opened) =>
      opened.on('*', (_event, context) => void keys.push(context.event.key)),
    );
    const event = createEvent('transfer.succeeded');
    await expect(receiver.accept(event, SOURCE)).rejects.toThrow('because the receiver has several accounts');
    for (const account of ['m1', 'm2', 'm1']) await receiver.accept(event, { ...SOURCE, account });
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(2);
  });
});
