import type { EventData, Store, WebhookEvent } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { expect } from 'vitest';
import { HeldHandler } from '../../support/held-handler.ts';
import { ampleDeadlines } from '../../support/limits.ts';
import { accepted, type EndpointOptions, openDirectly, refused } from '../../support/open-endpoint.ts';
import { until } from '../../support/until.ts';

/** A promise of concurrency keys; `open` opens a store that shares its ids with the others of a test. */
export interface KeyCase {
  readonly name: string;
  readonly check: (open: () => Store) => Promise<void>;
}

/** A receiver with a store of its own, whose handler has a key, as another process would have. */
function openProcess(open: () => Store, options: EndpointOptions = {}) {
  const held = new HeldHandler();
  const store = open();
  /** The answers to its claims of keys. */
  const claims: string[] = [];
  const watched: Store = {
    ...store,
    claim: async (request) => {
      const result = await store.claim(request);
      if (request.id.startsWith('handled:key:')) claims.push(result.state);
      return result;
    },
  };
  // A key that is not released would stay busy for far longer than the test.
  const { send } = openDirectly({ store: watched, ...ampleDeadlines, ...options }, (receiver) =>
    receiver.on('*', held.handle, { name: 'book', concurrencyKey: ({ data }) => String(data.id) }),
  );
  return { send, calls: held.calls, claims };
}

function eventOf(id: string): WebhookEvent<'transfer.updated', EventData> {
  return createEvent('transfer.updated', { id });
}

const newKey = (): string => `tr_${crypto.randomUUID()}`;

const promises: Record<string, KeyCase['check']> = {
  'two receivers handle one event of a key at a time, and the key is released after each': async (open) => {
    const [one, other] = [openProcess(open), openProcess(open)];
    const key = newKey();
    const [first, second, third] = [eventOf(key), eventOf(key), eventOf(key)];
    const ofFirst = one.send(first);
    const call = await one.calls.nth(1);
    const ofSecond = other.send(second);
    await until('the other receiver has found the key busy', () => other.claims.includes('busy'));
    expect(other.calls.all).toHaveLength(0);
    call.succeed();
    expect(await ofFirst).toEqual(accepted('processed', first.id));
    (await other.calls.nth(1)).succeed();
    expect(await ofSecond).toEqual(accepted('processed', second.id));
    const ofThird = one.send(third);
    (await one.calls.nth(2)).succeed();
    expect(await ofThird).toEqual(accepted('processed', third.id));
  },
  'another key is free meanwhile': async (open) => {
    const [one, other] = [openProcess(open), openProcess(open)];
    const [first, second] = [eventOf(newKey()), eventOf(newKey())];
    const ofFirst = one.send(first);
    const call = await one.calls.nth(1);
    const ofSecond = other.send(second);
    (await other.calls.nth(1)).succeed();
    expect(await ofSecond).toEqual(accepted('processed', second.id));
    expect(other.claims).toEqual(['claimed']);
    call.succeed();
    expect(await ofFirst).toEqual(accepted('processed', first.id));
  },
  'an event whose key stays busy is refused in time, and handled at its retry': async (open) => {
    const [one, other] = [openProcess(open), openProcess(open, { deadlineMs: 3_000, bodyTimeoutMs: 1_000 })];
    const key = newKey();
    const [first, second] = [eventOf(key), eventOf(key)];
    const ofFirst = one.send(first);
    const call = await one.calls.nth(1);
    expect(await other.send(second)).toEqual(refused(503, 'key_busy'));
    call.succeed();
    expect(await ofFirst).toEqual(accepted('processed', first.id));
    const retry = other.send(second);
    (await other.calls.nth(1)).succeed();
    expect(await retry).toEqual(accepted('processed', second.id));
  },
};

/** The promises of the concurrency keys of receivers on one store, whichever store it is. */
export const keyCases: readonly KeyCase[] = Object.entries(promises).map(([name, check]) => ({
  name,
  check,
}));
