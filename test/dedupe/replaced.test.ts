import { createMemoryStore, type Store } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { accepted, openEndpoint, refused } from '../support/open-endpoint.ts';

/** The receiver knows a short way into its own memory store. Whoever comes between is heard all the same. */
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
