import {
  ConfigurationError,
  createMemoryStore,
  createReceiver,
  type HandlerContext,
  UnavailableError,
} from 'posthorn';
import { describe, expect, test } from 'vitest';
import { letterOf } from '../../../support/letter-of.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import { accepted, type EndpointOptions, eventAt, openEndpoint } from '../../../support/open-endpoint.ts';
import { readAll } from '../../../support/read-all.ts';
import { KEY } from '../../../support/served.ts';
import { MINUTE_MS, stepClocked } from '../../../support/step-clock.ts';
import { throwing } from '../../../support/throwing.ts';

const HOUR_MS = 60 * MINUTE_MS;

/**
 * An event that was parked at its last attempt: "book" succeeded, "mail" failed, and fails until it is
 * mended.
 */
async function openParked(options: EndpointOptions = {}) {
  const { clock, deadLetters, store } = stepClocked();
  const runs: string[] = [];
  const state = { mended: false };
  const settings = { now: clock.now, deadLetters, store, ...options };
  const endpoint = await openEndpoint(settings, (receiver) =>
    receiver
      .on('transfer.*', () => runs.push('book'), { name: 'book' })
      .on(
        'transfer.*',
        (_event, { attempt, final }) => {
          runs.push(`mail ${attempt}${final ? ' final' : ''}`);
          if (!state.mended) throw new Error('no mail server');
        },
        { name: 'mail' },
      )
      .on('transfer.*', () => runs.push('unnamed')),
  );
  const event = eventAt(clock.startedAt);
  clock.moveTo(15 * MINUTE_MS);
  expect(await endpoint.send(event)).toEqual(accepted('parked', event.id));
  const letter = await letterOf(deadLetters, event.id);
  runs.length = 0;
  return { ...endpoint, clock, deadLetters, event, letter, runs, state, store };
}

describe('a replay', () => {
  test('after a fix runs what has not finished, and takes the letter out', async () => {
    const { deadLetters, event, letter, receiver, reports, runs, send, state } = await openParked();
    state.mended = true;
    const report = await receiver.replay(letter);
    expect(report).toMatchObject({
      outcome: 'processed',
      status: 200,
      event: { id: event.id, type: event.type },
      attempt: 2,
      late: false,
      answerSent: false,
      endpointAtRisk: false,
    });
    expect(runs).toEqual(['mail 2 final', 'unnamed']);
    expect(report.handlers.map(({ name, ok }) => ({ name, ok }))).toEqual([
      { name: 'mail', ok: true },
      { name: undefined, ok: true },
    ]);
    expect(await readAll(deadLetters.list())).toEqual([]);
    expect(await send(event)).toEqual(accepted('duplicate', event.id));
    expect(reports.all.map(({ outcome }) => outcome)).toEqual(['parked', 'processed', 'duplicate']);
  });

  test('of a letter whose id cannot be read is reported as failed, and close() does not wait for it', async () => {
    const { letter, receiver, reports } = await openParked();
    const getId = throwing('no connection');
    const report = await receiver.replay(Object.defineProperty({ ...letter }, 'id', { get: getId }));
    expect(report).toMatchObject({ outcome: 'failed', code: 'internal_error', source: 'replay' });
    expect(reports.all.at(-1)).toEqual(report);
    expect(await receiver.close({ graceMs: 60_000 })).toEqual({ abandoned: [] });
  });

  test('takes a letter of an earlier release, whose reason bears the old code', async () => {
    const { deadLetters, event, letter, receiver, state } = await openParked();
    state.mended = true;
    // Until 0.2.0 it was the code of what is event_running now.
    await deadLetters.put({ ...letter, reason: 'twin_running' });
    expect((await letterOf(deadLetters, event.id)).reason).toBe('twin_running');
    expect(await receiver.replay(letter)).toMatchObject({ outcome: 'processed' });
    expect(await readAll(deadLetters.list())).toEqual([]);
  });

  test('gives its handlers maxRunMs from its start, not what was left of the delivery', async () => {
    const contexts: HandlerContext[] = [];
    const { clock, deadLetters } = stepClocked();
    const options = { now: clock.now, deadLetters, deadlineMs: 5_000, maxRunMs: 40_000 };
    const { receiver, send } = await openEndpoint(options, (fresh) =>
      fresh.on('transfer.*', (_event, context) => {
        contexts.push(context);
        if (contexts.length === 1) throw new Error('poison');
      }),
    );
    const event = eventAt(clock.startedAt);
    clock.moveTo(15 * MINUTE_MS);
    const receivedAt = clock.now();
    expect(await send(event)).toEqual(accepted('parked', event.id));
    const letter = await letterOf(deadLetters, event.id);
    clock.step(HOUR_MS);
    expect(await receiver.replay(letter)).toMatchObject({ outcome: 'processed' });
    expect(contexts.map(({ deadlineAt }) => deadlineAt)).toEqual([
      receivedAt + 5_000,
      receivedAt + HOUR_MS + 40_000,
    ]);
    expect(contexts.map((context) => context.receivedAt)).toEqual([receivedAt, receivedAt]);
  });

  test('that fails again leaves the letter, brought up to date', async () => {
    const { clock, deadLetters, event, letter, receiver, runs, state } = await openParked();
    clock.step(HOUR_MS);
    expect(await receiver.replay(letter)).toMatchObject({ outcome: 'parked', code: 'handler_failed' });
    const kept = await letterOf(deadLetters, event.id);
    expect(kept).toMatchObject({
      reason: 'handler_failed',
      attempts: 2,
      handled: ['book'],
      receivedAt: letter.receivedAt,
      parkedAt: letter.parkedAt,
      lastTriedAt: clock.now(),
    });
    expect(kept.runningUntil).toBeUndefined();
    // The alert for letters that wait long must go on.
    const { deadLetters: health } = await receiver.health();
    expect(health).toMatchObject({ waiting: 1, oldestParkedAt: letter.parkedAt });
    expect(Buffer.from(kept.rawBody).toString()).toBe(JSON.stringify(event));
    state.mended = true;
    expect(await receiver.replay(kept)).toMatchObject({ outcome: 'processed' });
    expect(runs).toEqual(['mail 2 final', 'unnamed', 'mail 3 final', 'unnamed']);
    expect(await readAll(deadLetters.list())).toEqual([]);
  });

  test('that fails again and again names each handler that has finished once', async () => {
    const store = createMemoryStore();
    const released: (readonly string[])[] = [];
    const release: typeof store.release = (request) => {
      released.push([...request.handled]);
      return store.release(request);
    };
    const { deadLetters, event, letter, receiver } = await openParked({ store: { ...store, release } });
    await receiver.replay(letter);
    await receiver.replay(await letterOf(deadLetters, event.id));
    expect(released).toEqual([['book'], ['book'], ['book']]);
    expect((await letterOf(deadLetters, event.id)).handled).toEqual(['book']);
  });

  test('in a fresh process knows from the letter what was handled', async () => {
    const { clock, deadLetters, event, letter } = await openParked();
    const runs: string[] = [];
    const { receiver } = await openEndpoint({ now: clock.now, deadLetters }, (fresh) =>
      fresh
        .on('transfer.*', () => runs.push('book'), { name: 'book' })
        .on('transfer.*', () => runs.push('mail'), { name: 'mail' }),
    );
    expect(await receiver.replay(letter)).toMatchObject({ outcome: 'processed' });
    expect(runs).toEqual(['mail']);
    expect(await deadLetters.get(event.id)).toBeUndefined();
  });

  test('is given the event as it was sent, whatever its age', async () => {
    const { clock, deadLetters } = stepClocked();
    const bodies: string[] = [];
    const { receiver, send } = await openEndpoint({ now: clock.now, deadLetters }, (fresh) =>
      fresh.on('transfer.*', (_event, { rawBody }) => bodies.push(Buffer.from(rawBody).toString())),
    );
    const event = eventAt(clock.startedAt);
    clock.step(48 * HOUR_MS);
    expect(await send(event)).toEqual(accepted('parked', event.id));
    const letter = await letterOf(deadLetters, event.id);
    expect(letter.reason).toBe('event_too_old');
    expect(await receiver.replay(letter)).toMatchObject({ outcome: 'processed' });
    expect(bodies).toEqual([JSON.stringify(event)]);
    expect(await deadLetters.get(event.id)).toBeUndefined();
  });

  test('skips what was handled, also when the event was parked again without being run', async () => {
    const { clock, deadLetters, event, receiver, runs, send, state } = await openParked();
    clock.moveTo(48 * HOUR_MS);
    expect(await send(event)).toEqual(accepted('parked', event.id));
    expect(runs).toEqual([]);
    const letter = await letterOf(deadLetters, event.id);
    expect(letter).toMatchObject({ reason: 'event_too_old', attempts: 1, handled: ['book'] });
    state.mended = true;
    // The store has forgotten the event by now: the letter alone knows.
    expect(await receiver.replay(letter)).toMatchObject({ outcome: 'processed' });
    expect(runs).toEqual([expect.stringMatching(/^mail \d final$/), 'unnamed']);
  });

  test('of an event that may be running is busy, and touches nothing', async () => {
    const { clock, deadLetters, letter, receiver, runs, state } = await openParked();
    const running = { ...letter, runningUntil: clock.now() + 1 };
    await deadLetters.put(running);
    state.mended = true;
    expect(await receiver.replay(running)).toMatchObject({
      outcome: 'busy',
      status: 503,
      code: 'event_running',
      endpointAtRisk: false,
    });
    expect(runs).toEqual([]);
    expect(await letterOf(deadLetters, letter.id)).toEqual(running);
    clock.step(1);
    expect(await receiver.replay(running)).toMatchObject({ outcome: 'processed' });
  });

  test('of a completed event is a duplicate, and takes the letter out', async () => {
    const { deadLetters, letter, receiver, runs, store } = await openParked();
    await store.complete({ id: letter.id, token: 'elsewhere', retentionMs: HOUR_MS });
    expect(await receiver.replay(letter)).toMatchObject({ outcome: 'duplicate', status: 200 });
    expect(runs).toEqual([]);
    expect(await readAll(deadLetters.list())).toEqual([]);
  });

  test('of a body that is no event is rejected, and the letter stays', async () => {
    const deadLetters = createMapDeadLetters();
    const { receiver, send } = await openEndpoint({ deadLetters }, (fresh) => fresh.on('*', () => 'done'));
    expect(await send('no event')).toMatchObject({ status: 200 });
    const [letter] = await readAll(deadLetters.list());
    if (letter === undefined) throw new Error('no letter');
    expect(await receiver.replay(letter)).toMatchObject({ outcome: 'rejected', code: 'body_not_json' });
    expect(await readAll(deadLetters.list())).toEqual([letter]);
  });

  test('while the receiver is closing is refused, and the letter stays', async () => {
    const { deadLetters, letter, receiver, runs } = await openParked();
    await receiver.close();
    expect(await receiver.replay(letter)).toMatchObject({ outcome: 'failed', code: 'closing' });
    expect(runs).toEqual([]);
    expect(await readAll(deadLetters.list())).toEqual([letter]);
  });

  test('twice at once runs the handlers once', async () => {
    const { deadLetters, letter, receiver, runs, state } = await openParked();
    state.mended = true;
    const reports = await Promise.all([receiver.replay(letter), receiver.replay(letter)]);
    expect(reports.map(({ outcome }) => outcome).sort()).toEqual(['duplicate', 'processed']);
    expect(runs).toEqual(['mail 2 final', 'unnamed']);
    expect(await readAll(deadLetters.list())).toEqual([]);
  });
});

describe('drop', () => {
  test('takes the letter out and completes its event', async () => {
    const { deadLetters, event, letter, receiver, runs, send, state } = await openParked();
    expect(await receiver.drop(letter)).toBe(true);
    expect(await readAll(deadLetters.list())).toEqual([]);
    state.mended = true;
    expect(await send(event)).toEqual(accepted('duplicate', event.id));
    expect(await receiver.replay(letter)).toMatchObject({ outcome: 'duplicate' });
    expect(runs).toEqual([]);
    expect(await receiver.drop(letter)).toBe(false);
  });

  test('completes the event for as long as it would be accepted', async () => {
    const { clock, event, letter, receiver, runs, send } = await openParked({
      retentionMs: HOUR_MS,
      maxEventAgeMs: 24 * HOUR_MS,
    });
    expect(await receiver.drop(letter)).toBe(true);
    clock.moveTo(23 * HOUR_MS);
    expect(await send(event)).toEqual(accepted('duplicate', event.id));
    expect(runs).toEqual([]);
  });

  test('remembers a dropped letter that holds no event for retentionMs', async () => {
    const { clock, store, deadLetters } = stepClocked();
    const options = { now: clock.now, store, deadLetters, retentionMs: HOUR_MS };
    const { receiver, send } = await openEndpoint(options, (fresh) => fresh.on('*', () => 'done'));
    expect(await send('no event')).toMatchObject({ status: 200 });
    const [letter] = await readAll(deadLetters.list());
    if (letter === undefined) throw new Error('no letter');
    expect(await receiver.drop(letter)).toBe(true);
    expect(await readAll(deadLetters.list())).toEqual([]);
    const claim = { id: letter.id, token: 'another', leaseMs: 1_000, retentionMs: HOUR_MS };
    clock.step(HOUR_MS - 1);
    expect(await store.claim(claim)).toEqual({ state: 'completed' });
    clock.step(1);
    expect(await store.claim(claim)).toMatchObject({ state: 'claimed' });
  });

  test('passes over an event that may be running', async () => {
    const { clock, deadLetters, letter, receiver, store } = await openParked();
    const running = { ...letter, runningUntil: clock.now() + 1 };
    await deadLetters.put(running);
    expect(await receiver.drop(running)).toBe(false);
    expect(await letterOf(deadLetters, letter.id)).toEqual(running);
    const claim = { id: letter.id, token: 'another', leaseMs: 1_000, retentionMs: HOUR_MS };
    expect(await store.claim(claim)).toMatchObject({ state: 'claimed' });
  });

  test('leaves the event alone when its letter is gone', async () => {
    const { deadLetters, event, letter, receiver, runs, send, state } = await openParked();
    await deadLetters.remove(letter.id);
    expect(await receiver.drop(letter)).toBe(false);
    state.mended = true;
    expect(await send(event)).toEqual(accepted('processed', event.id));
    expect(runs).toEqual(['mail 2 final', 'unnamed']);
  });

  test('leaves the event alone when the receiver has no dead letters', async () => {
    const { letter, store } = await openParked();
    const { receiver } = await openEndpoint({ store }, (other) => other.on('*', () => {}));
    expect(await receiver.drop(letter)).toBe(false);
    const claim = { id: letter.id, token: 'another', leaseMs: 1_000, retentionMs: HOUR_MS };
    expect(await store.claim(claim)).toMatchObject({ state: 'claimed' });
  });

  test('keeps the letter when the store cannot be told', async () => {
    const memory = createMemoryStore();
    const complete = () => Promise.reject(new Error('ECONNREFUSED'));
    const { deadLetters, letter, receiver } = await openParked({ store: { ...memory, complete } });
    await expect(receiver.drop(letter)).rejects.toThrow(UnavailableError);
    expect(await readAll(deadLetters.list())).toEqual([letter]);
  });
});

test('what is no letter is a clear error: it may have been replayed or dropped meanwhile', async () => {
  const deadLetters = createMapDeadLetters();
  const receiver = createReceiver({ signingKey: KEY, deadLetters }).on('*', () => {});
  receiver.observe(() => {});
  // As JavaScript hands it on.
  const letter = JSON.parse('null');
  const { outcome, error } = await receiver.replay(letter);
  expect([outcome, error?.code]).toEqual(['failed', 'configuration_invalid']);
  expect(error?.message).toContain('it was replayed or dropped');
  await expect(receiver.drop(letter)).rejects.toThrow(ConfigurationError);
});
