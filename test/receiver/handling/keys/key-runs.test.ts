import { AbortedError, createMemoryStore, type Store } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { aborted } from '../../../support/aborted.ts';
import { fakeTime, passUntil } from '../../../support/fake-time.ts';
import { Gate } from '../../../support/gate.ts';
import { accepted, openDirectly, refused } from '../../../support/open-endpoint.ts';
import { Seen } from '../../../support/seen.ts';
import { until } from '../../../support/until.ts';
import {
  byResource,
  claimAndDie,
  eventOf,
  gatedReleases,
  KEY_A,
  nextTurns,
  openHeld,
  recordingStore,
} from './keyed-events.ts';

describe('maxRunMs', () => {
  test('does not count while the handler waits for its key, and counts from its begin', async () => {
    const pass = fakeTime();
    const { held, reports, send } = openHeld({ maxRunMs: 2_000 });
    const first = send(eventOf('a'));
    await passUntil(pass, held.calls.nth(1));
    const second = send(eventOf('a'));
    await pass(1_000);
    held.calls.all[0]?.succeed();
    expect(await passUntil(pass, first)).toHaveProperty('status', 200);
    const begunAt = performance.now();
    const third = send(eventOf('a'));
    const { signal } = (await passUntil(pass, held.calls.nth(2))).context;
    expect(await passUntil(pass, second)).toEqual(refused(503, 'run_timeout'));
    expect(performance.now() - begunAt).toBeGreaterThanOrEqual(1_980);
    expect(performance.now() - begunAt).toBeLessThanOrEqual(2_100);
    expect(signal.reason).toMatchObject({ code: 'run_timeout' });
    // Its signal is heeded late: the third event has waited for longer than `maxRunMs` then.
    await pass(1_000);
    expect(held.calls.all).toHaveLength(2);
    held.calls.all[1]?.fail(signal.reason);
    (await passUntil(pass, held.calls.nth(3))).succeed();
    expect(await passUntil(pass, third)).toHaveProperty('status', 200);
    expect(reports.all.at(-1)?.warnings).toEqual([]);
  });

  test('a handler that outlasts it once more is reported, and the next event of its key runs', async () => {
    const pass = fakeTime();
    const { held, reports, send } = openHeld({ maxRunMs: 2_000 });
    const event = eventOf('a');
    const first = send(event);
    await passUntil(pass, held.calls.nth(1));
    expect(await passUntil(pass, first)).toEqual(refused(503, 'run_timeout'));
    const abortedAt = performance.now();
    const second = send(eventOf('a'));
    const next = await passUntil(pass, held.calls.nth(2));
    expect(performance.now() - abortedAt).toBeGreaterThanOrEqual(1_980);
    // Other processes have their chance first.
    expect(performance.now() - abortedAt).toBeLessThanOrEqual(2_500);
    next.succeed();
    expect(await passUntil(pass, second)).toHaveProperty('status', 200);
    const warnings = reports.all.at(-1)?.warnings ?? [];
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/^key_overrun: the handler "book" of the event /);
    expect(warnings[0]).toContain(
      `"${event.id}" has not ended 2000 ms (maxRunMs) after its signal had aborted`,
    );
    // Its end comes when another event may have the key, and changes nothing.
    held.calls.all[0]?.succeed();
    const third = send(eventOf('a'));
    (await passUntil(pass, held.calls.nth(3))).succeed();
    expect(await passUntil(pass, third)).toHaveProperty('status', 200);
  });

  test('the key of a handler that does not heed its signal stays claimed for other processes', async () => {
    const pass = fakeTime();
    const store = createMemoryStore();
    const options = { store, leaseMs: 3_000, maxRunMs: 9_000 };
    const [one, other] = [openHeld(options), openHeld(options)];
    const first = one.send(eventOf('a'));
    await passUntil(pass, one.held.calls.nth(1));
    expect(await passUntil(pass, first)).toEqual(refused(503, 'run_timeout'));
    const second = other.send(eventOf('a'));
    await pass(8_000);
    expect(other.held.calls.all).toEqual([]);
    one.held.calls.all[0]?.fail(new Error('late'));
    (await passUntil(pass, other.held.calls.nth(1))).succeed();
    expect(await passUntil(pass, second)).toHaveProperty('status', 200);
  });
});

describe('close()', () => {
  test('a handler that waits for its key fails at the end of the grace, and is not abandoned', async () => {
    const pass = fakeTime();
    const store = createMemoryStore();
    await claimAndDie(store);
    const { held, receiver, send } = openHeld({ store });
    const event = eventOf('a');
    const answer = send(event);
    await pass(1_000);
    const closed = receiver.close({ graceMs: 2_000 });
    await pass(1_900);
    expect(await Promise.race([answer, 'waits'])).toBe('waits');
    expect(await passUntil(pass, answer)).toEqual(refused(503, 'run_closed'));
    expect(await passUntil(pass, closed)).toEqual({ abandoned: [] });
    expect(held.calls.all).toEqual([]);
  });

  test('resolves after the keys were released whose handlers heed their signal', async () => {
    const memory = createMemoryStore();
    const gate = new Gate();
    const released: string[] = [];
    const store: Store = {
      ...memory,
      release: async (request) => {
        if (request.id === KEY_A) await gate.pass();
        released.push(request.id);
        return memory.release(request);
      },
    };
    const signals = new Seen<AbortSignal>();
    const { receiver, send } = openDirectly({ store }, (opened) =>
      opened.on(
        '*',
        async (_event, { signal }) => {
          signals.add(signal);
          throw await aborted(signal);
        },
        byResource,
      ),
    );
    gate.shut();
    const answer = send(eventOf('a'));
    await signals.nth(1);
    let isClosed = false;
    const closed = receiver.close({ graceMs: 0 }).then(({ abandoned }) => {
      isClosed = true;
      return abandoned;
    });
    expect(await answer).toEqual(refused(503, 'run_closed'));
    await gate.held.nth(1);
    await nextTurns();
    expect(isClosed).toBe(false);
    gate.open();
    expect(await closed).toHaveLength(1);
    expect(released).toContain(KEY_A);
  });

  test('resolves after a key was released that the store has granted late', async () => {
    const memory = createMemoryStore();
    const gate = new Gate();
    const releases: string[] = [];
    const store: Store = {
      ...memory,
      claim: async (request) => {
        if (request.id === KEY_A) await gate.pass();
        return memory.claim(request);
      },
      release: (request) => {
        releases.push(request.id);
        return memory.release(request);
      },
    };
    const { receiver, send } = openHeld({ store });
    gate.shut();
    const answer = send(eventOf('a'));
    await gate.held.nth(1);
    const closed = receiver.close({ graceMs: 0 });
    expect(await answer).toEqual(refused(503, 'run_closed'));
    await nextTurns();
    gate.open();
    await closed;
    expect(releases).toContain(KEY_A);
  });

  test('does not wait for the key of a handler that does not heed its signal', async () => {
    const { store, releases } = recordingStore();
    const { held, receiver, send } = openHeld({ store });
    const event = eventOf('a');
    const answer = send(event);
    await held.calls.nth(1);
    expect(await receiver.close({ graceMs: 0 })).toEqual({ abandoned: [event.id] });
    expect(await answer).toEqual(refused(503, 'run_closed'));
    expect(releases).toEqual([event.id]);
    expect(held.calls.all[0]?.context.signal.reason).toBeInstanceOf(AbortedError);
    held.calls.all[0]?.succeed();
    await until('the key is released', () => releases.includes(KEY_A));
  });

  test('waits for a key that is being released after the answer', async () => {
    const { store, gate } = gatedReleases();
    const { held, receiver, send } = openHeld({ store });
    gate.shut();
    const event = eventOf('a');
    const answer = send(event);
    (await held.calls.nth(1)).succeed();
    expect(await answer).toEqual(accepted('processed', event.id));
    let isClosed = false;
    const closed = receiver.close().then(() => {
      isClosed = true;
    });
    await nextTurns();
    expect(isClosed).toBe(false);
    gate.open();
    await closed;
    expect(await store.claim(otherClaim)).toMatchObject({ state: 'claimed' });
  });
});

const otherClaim = { id: KEY_A, token: 'another', leaseMs: 1_000, retentionMs: 1_000 };
