import { createMemoryStore, type Receiver } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { fakeTime, flowingTime, passUntil } from '../../../support/fake-time.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { accepted, openDirectly, refused } from '../../../support/open-endpoint.ts';
import { Seen } from '../../../support/seen.ts';
import { throwing } from '../../../support/throwing.ts';
import { byResource, claimAndDie, eventOf, openHeld } from './keyed-events.ts';

const byId = byResource.concurrencyKey;

/** The key "a" of the handler "book" is busy for a minute; the other handlers are those of `register`. */
async function openBusy(register: (receiver: Receiver) => unknown) {
  const pass = fakeTime();
  const store = createMemoryStore();
  await claimAndDie(store);
  const booked = new Seen<string>();
  const endpoint = openDirectly({ store }, (receiver) => {
    register(receiver);
    receiver.on('*', ({ id }) => booked.add(id), byResource);
  });
  return { pass, store, booked, ...endpoint };
}

describe('the other handlers of an event whose key is busy', () => {
  test('without a key do not wait, and one that has finished does not run again', async () => {
    const ran: string[] = [];
    const { pass, booked, reports, send } = await openBusy((receiver) =>
      receiver
        .on('*', () => ran.push('log'), { name: 'log' })
        .on('*', () => ran.push('mail'), { name: 'mail', concurrencyKey: byId }),
    );
    const event = eventOf('a');
    const answer = send(event);
    await pass(40);
    expect(ran).toEqual(['log', 'mail']);
    expect(await passUntil(pass, answer)).toEqual(refused(503, 'key_busy'));
    expect(reports.all[0]?.handlers).toMatchObject([
      { name: 'log', ok: true },
      { name: 'mail', ok: true },
    ]);
    await pass(60_000);
    expect(await passUntil(pass, send(event))).toEqual(accepted('processed', event.id));
    expect([ran, booked.all]).toEqual([['log', 'mail'], [event.id]]);
  });

  test('fail the event if one of them fails', async () => {
    const { pass, reports, send } = await openBusy((receiver) =>
      receiver.on('*', throwing('no mail server')),
    );
    expect(await passUntil(pass, send(eventOf('a')))).toEqual(refused(500, 'handler_failed'));
    expect(reports.all[0]?.error?.message).toBe('a handler failed: no mail server');
  });

  test('are limited by maxRunMs while it waits', async () => {
    const held = new HeldHandler();
    const pass = fakeTime();
    const store = createMemoryStore();
    await claimAndDie(store);
    const { send } = openDirectly({ store, maxRunMs: 2_000 }, (receiver) =>
      receiver.on('*', held.handle).on('*', () => {}, byResource),
    );
    const startedAt = performance.now();
    expect(await passUntil(pass, send(eventOf('a')))).toEqual(refused(503, 'run_timeout'));
    expect(performance.now() - startedAt).toBeLessThanOrEqual(2_100);
    expect(held.calls.all[0]?.context.signal.aborted).toBe(true);
    held.calls.all[0]?.succeed();
  });
});

test('different handlers with the same key do not exclude each other', async () => {
  const [one, two] = [new HeldHandler(), new HeldHandler()];
  const { send } = openDirectly({}, (receiver) =>
    receiver
      .on('transfer.created', one.handle, { name: 'one', concurrencyKey: byId })
      .on('transfer.updated', two.handle, { name: 'two', concurrencyKey: byId }),
  );
  const answers = [send(eventOf('a')), send(createEvent('transfer.updated', { id: 'a' }))];
  for (const { calls } of [one, two]) await calls.nth(1);
  for (const { calls } of [one, two]) calls.all[0]?.succeed();
  for (const answer of answers) expect(await answer).toHaveProperty('status', 200);
});

test('events with crossed keys end', async () => {
  flowingTime();
  const pause = () => new Promise((resolve) => setTimeout(resolve, 100));
  const { send } = openDirectly({ maxRunning: 1 }, (receiver) =>
    receiver
      .on('*', pause, { name: 'one', concurrencyKey: ({ data }) => String(data.state) })
      .on('*', pause, { name: 'two', concurrencyKey: byId }),
  );
  const events = [
    createEvent('transfer.created', { id: 'x', state: 'y' }),
    createEvent('transfer.created', { id: 'y', state: 'x' }),
    createEvent('transfer.created', { id: 'x', state: 'y' }),
  ];
  const answers = await Promise.all(events.map((event) => send(event)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
});

describe('maxRunning', () => {
  test('a handler that waits for its key has no permit', async () => {
    const pass = fakeTime();
    const store = createMemoryStore();
    await claimAndDie(store);
    const { held, send } = openHeld({ store, maxRunning: 1 });
    const waiting = send(eventOf('a'));
    await pass(1_000);
    const other = send(eventOf('b'));
    (await passUntil(pass, held.calls.nth(1))).succeed();
    expect(await passUntil(pass, other)).toHaveProperty('status', 200);
    expect(await passUntil(pass, waiting)).toEqual(refused(503, 'key_busy'));
  });

  test('a handler that has its key begins with a permit', async () => {
    const pass = fakeTime();
    const { held, send } = openHeld({ maxRunning: 1 });
    const first = send(eventOf('a'));
    await passUntil(pass, held.calls.nth(1));
    const second = send(eventOf('b'));
    await pass(1_000);
    expect(held.calls.all).toHaveLength(1);
    held.calls.all[0]?.succeed();
    (await passUntil(pass, held.calls.nth(2))).succeed();
    for (const answer of [first, second]) expect(await passUntil(pass, answer)).toHaveProperty('status', 200);
  });

  test('a handler that gets no permit in time gives its key back', async () => {
    const pass = fakeTime();
    const store = createMemoryStore();
    const [one, other] = [openHeld({ store, maxRunning: 1 }), openHeld({ store })];
    const first = one.send(eventOf('b'));
    await passUntil(pass, one.held.calls.nth(1));
    const second = one.send(eventOf('a'));
    await pass(10_000);
    const third = other.send(eventOf('a'));
    await pass(1_000);
    expect(other.held.calls.all).toEqual([]);
    expect(await passUntil(pass, second)).toEqual(refused(503, 'too_many_running'));
    (await passUntil(pass, other.held.calls.nth(1))).succeed();
    expect(await passUntil(pass, third)).toHaveProperty('status', 200);
    one.held.calls.all[0]?.succeed();
    expect(await passUntil(pass, first)).toHaveProperty('status', 200);
  });
});

test('middlewares run around a handler once it has its key', async () => {
  const pass = fakeTime();
  const steps: string[] = [];
  const held = new HeldHandler();
  const { send } = openDirectly({}, (receiver) =>
    receiver
      .use(async ({ id }, { handler }, next) => {
        steps.push(`${id} ${handler.name} begins`);
        await next();
        steps.push(`${id} ends`);
      })
      .on('*', held.handle, byResource),
  );
  const [one, two] = [eventOf('a'), eventOf('a')];
  const first = send(one);
  await passUntil(pass, held.calls.nth(1));
  const second = send(two);
  await pass(1_000);
  expect(steps).toEqual([`${one.id} book begins`]);
  held.calls.all[0]?.succeed();
  (await passUntil(pass, held.calls.nth(2))).succeed();
  for (const answer of [first, second]) expect(await passUntil(pass, answer)).toHaveProperty('status', 200);
  expect(steps.slice(1)).toEqual([`${one.id} ends`, `${two.id} book begins`, `${two.id} ends`]);
});
