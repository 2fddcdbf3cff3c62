import { createMemoryStore, type Store } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { accepted, openEndpoint, refused } from '../../support/open-endpoint.ts';
import { throwing } from '../../support/throwing.ts';

/** What a receiver knows of a store must not go past what its user puts in its place. */
describe('a memory store', () => {
  const wrappings: Record<string, (log: string[]) => Store> = {
    'that is wrapped': (log) => {
      const inner = createMemoryStore();
      return {
        ...inner,
        claim: (request) => {
          log.push('claim');
          return inner.claim(request);
        },
        complete: (request) => {
          log.push('complete');
          return inner.complete(request);
        },
      };
    },
    'of which operations were replaced': (log) => {
      const store = createMemoryStore();
      const { claim, complete } = store;
      store.claim = (request) => {
        log.push('claim');
        return claim(request);
      };
      store.complete = (request) => {
        log.push('complete');
        return complete(request);
      };
      return store;
    },
  };

  test.each(Object.keys(wrappings))('%s is asked as it stands', async (name) => {
    const log: string[] = [];
    const store = wrappings[name]?.(log) ?? createMemoryStore();
    const { send } = await openEndpoint({ store }, (receiver) => receiver.on('*', () => {}));
    const event = createEvent('transfer.created');
    expect(await send(event)).toEqual(accepted('processed', event.id));
    expect(await send(event)).toEqual(accepted('duplicate', event.id));
    expect(log).toEqual(['claim', 'complete', 'claim']);
  });

  test('of which an operation is replaced after the first delivery fails as its replacement does', async () => {
    const store = createMemoryStore();
    const { send } = await openEndpoint({ store }, (receiver) => receiver.on('*', () => {}));
    const event = createEvent('transfer.created');
    expect(await send(event)).toEqual(accepted('processed', event.id));
    store.claim = () => Promise.reject(new Error('away'));
    expect(await send(event)).toEqual(refused(503, 'store_unavailable'));
  });
});

describe('an operation of a store', () => {
  const thenable = (then: (resolve: (value: unknown) => void) => void) => ({ then });
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const claimed = { state: 'claimed', attempt: 1, abandoned: 0, firstClaimedMsAgo: 0, handled: [] };

  test.each<[string, () => unknown, number]>([
    ['gives its result at once', () => claimed, 200],
    ['gives it by a promise of another kind', () => thenable((resolve) => resolve(claimed)), 200],
    ['throws at once', throwing('away'), 503],
    ['gives a revoked proxy', () => proxy, 503],
    ['gives a promise of another kind that never settles', () => thenable(() => {}), 503],
    ['gives a promise of another kind that throws', () => thenable(throwing('away')), 503],
  ])('that %s', async (_, claim, status) => {
    const store: Store = { ...createMemoryStore(), commandTimeoutMs: 50 };
    Reflect.set(store, 'claim', claim);
    const { send } = await openEndpoint({ store }, (receiver) => receiver.on('*', () => {}));
    const event = createEvent('transfer.created');
    const expected = status === 200 ? accepted('processed', event.id) : refused(503, 'store_unavailable');
    expect(await send(event)).toEqual(expected);
  });
});
