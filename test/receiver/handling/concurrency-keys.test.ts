import { createMemoryStore, type EventData, type Receiver, type Store, type WebhookEvent } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { fakeTime, flowingTime, passUntil } from '../../support/fake-time.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { accepted, openDirectly, openEndpoint, refused } from '../../support/open-endpoint.ts';
import { until } from '../../support/until.ts';

const byResource = { name: 'book', concurrencyKey: (event: { data: EventData }) => event.data.id };

/** An event of the resource `id`. */
function eventOf(id: string, createdAt = Date.now()): WebhookEvent<'transfer.created', EventData> {
  return { ...createEvent('transfer.created', { id }), created_at: new Date(createdAt).toISOString() };
}

/** Counts the claims of a memory store. */
function countingStore(): { readonly store: Store; readonly claims: string[]; readonly releases: string[] } {
  const claims: string[] = [];
  const releases: string[] = [];
  const memory = createMemoryStore();
  const store: Store = {
    ...memory,
    claim: (request) => {
      claims.push(request.id);
      return memory.claim(request);
    },
    release: (request) => {
      releases.push(request.id);
      return memory.release(request);
    },
  };
  return { store, claims, releases };
}

describe('two events of one key', () => {
  test('are handled one after the other, those of another key beside them', async () => {
    const held = new HeldHandler();
    const { send } = await openEndpoint({}, (receiver) => receiver.on('transfer.*', held.handle, byResource));
    const first = send(eventOf('a'));
    await held.calls.nth(1);
    const second = send(eventOf('a'));
    const other = send(eventOf('b'));
    await held.calls.nth(2);
    held.calls.all[1]?.succeed();
    expect(await other).toMatchObject({ status: 200 });
    expect(held.calls.all).toHaveLength(2);
    held.calls.all[0]?.succeed();
    expect(await first).toMatchObject({ status: 200 });
    (await held.calls.nth(3)).succeed();
    expect(await second).toMatchObject({ status: 200 });
  });

  test('wait in the order of created_at, then of arrival', async () => {
    const order: string[] = [];
    const held = new HeldHandler();
    const { store, claims } = countingStore();
    const { send } = openDirectly({ store }, (receiver: Receiver) =>
      receiver.on(
        '*',
        (event, context) => {
          order.push(event.id);
          return held.handle(event, context);
        },
        byResource,
      ),
    );
    const now = Date.now();
    const events = [5, 3, 4, 3].map((second) => eventOf('a', now - 10_000 + second * 1_000));
    const [first, ...others] = events;
    const answers = [send(first ?? {})];
    await held.calls.nth(1);
    answers.push(...others.map((event) => send(event)));
    await until('every event is claimed', () => events.every(({ id }) => claims.includes(id)));
    for (let count = 1; count <= 4; count += 1) (await held.calls.nth(count)).succeed();
    await Promise.all(answers);
    expect(order).toEqual([0, 1, 3, 2].map((index) => events[index]?.id));
  });

  test('ask the store once while one has the key, and give it back once', async () => {
    const { store, claims, releases } = countingStore();
    const held = new HeldHandler();
    const { send } = openDirectly({ store }, (receiver) => receiver.on('*', held.handle, byResource));
    const events = Array.from({ length: 5 }, () => eventOf('a'));
    const answers = events.map((event) => send(event));
    await until('every event is claimed', () => events.every(({ id }) => claims.includes(id)));
    for (let count = 1; count <= 5; count += 1) (await held.calls.nth(count)).succeed();
    await Promise.all(answers);
    expect(claims.filter((id) => id === 'handled:key:4:book:a')).toHaveLength(1);
    expect(releases.filter((id) => id === 'handled:key:4:book:a')).toHaveLength(1);
  });

  test('the second is busy if the first still runs when handlers must begin, and is handled at its retry', async () => {
    const pass = fakeTime();
    const held = new HeldHandler();
    const { send, reports } = openDirectly({}, (receiver) => receiver.on('*', held.handle, byResource));
    const first = send(eventOf('a'));
    await passUntil(pass, held.calls.nth(1));
    const event = eventOf('a');
    const startedAt = performance.now();
    expect(await passUntil(pass, send(event))).toEqual(refused(503, 'key_busy'));
    expect(performance.now() - startedAt).toBeGreaterThan(18_500);
    expect(performance.now() - startedAt).toBeLessThan(19_000);
    expect(reports.all.at(-1)).toMatchObject({ outcome: 'busy', handlers: [], attempt: 1 });
    held.calls.all[0]?.succeed();
    await first;
    const retry = send(event);
    (await passUntil(pass, held.calls.nth(2))).succeed();
    expect(await retry).toEqual(accepted('processed', event.id));
  });
});

describe('a key that is wrong fails the event by the name of its handler', () => {
  const wrong = [
    ['undefined', () => undefined, 'got undefined'],
    ['an empty string', () => '', 'got a string of 0'],
    ['a long string', () => 'x'.repeat(1_001), 'got a string of 1001'],
    ['a promise', () => Promise.reject(new Error('late')), 'got Promise'],
    [
      'an error',
      () => {
        throw new Error('no key');
      },
      'no key',
    ],
  ] as const;

  test.each(wrong)('%s', async (_name, concurrencyKey, message) => {
    const { send, reports } = openDirectly({}, (receiver) => {
      const options: object = { name: 'book', concurrencyKey };
      receiver.on('*', () => {}, options);
    });
    expect(await send(eventOf('a'))).toEqual(refused(500, 'handler_failed'));
    expect(reports.all[0]?.error?.message).toContain('"book"');
    expect(reports.all[0]?.error?.message).toContain(message);
    expect(reports.all[0]?.handlers).toMatchObject([{ name: 'book', ok: false }]);
  });
});

test('crossed keys of two events end', async () => {
  flowingTime();
  const { send } = openDirectly({ maxRunning: 1 }, (receiver) =>
    receiver
      .on('*', () => new Promise((resolve) => setTimeout(resolve, 100)), {
        name: 'one',
        concurrencyKey: ({ data }) => String(data.state),
      })
      .on('*', () => new Promise((resolve) => setTimeout(resolve, 100)), {
        name: 'two',
        concurrencyKey: ({ data }) => data.id,
      }),
  );
  const events = [
    createEvent('transfer.created', { id: 'x', state: 'y' }),
    createEvent('transfer.created', { id: 'y', state: 'x' }),
    createEvent('transfer.created', { id: 'x', state: 'y' }),
  ];
  const answers = await Promise.all(events.map((event) => send(event)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
});
