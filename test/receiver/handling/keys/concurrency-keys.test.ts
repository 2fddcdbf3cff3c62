import type { Receiver } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { fakeTime, passUntil } from '../../../support/fake-time.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { accepted, openDirectly, openEndpoint, refused } from '../../../support/open-endpoint.ts';
import { until } from '../../../support/until.ts';
import { byResource, eventOf, KEY_A, recordingStore } from './keyed-events.ts';

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
    const { store, claims } = recordingStore();
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
    const { store, claims, releases } = recordingStore();
    const held = new HeldHandler();
    const { send } = openDirectly({ store }, (receiver) => receiver.on('*', held.handle, byResource));
    const events = Array.from({ length: 5 }, () => eventOf('a'));
    const answers = events.map((event) => send(event));
    await until('every event is claimed', () => events.every(({ id }) => claims.includes(id)));
    for (let count = 1; count <= 5; count += 1) (await held.calls.nth(count)).succeed();
    await Promise.all(answers);
    expect(claims.filter((id) => id === KEY_A)).toHaveLength(1);
    expect(releases.filter((id) => id === KEY_A)).toHaveLength(1);
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
