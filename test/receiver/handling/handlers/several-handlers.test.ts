import { createMemoryStore, type Receiver } from 'posthorn';
import { expect, test } from 'vitest';
import { HeldHandler } from '../../../support/held-handler.ts';
import { accepted, eventAt, openEndpoint, refused } from '../../../support/open-endpoint.ts';

/** Handlers that fail while their name is in `broken`; `runs` has the names of those that ran. */
class Handlers {
  readonly runs: string[] = [];
  readonly broken = new Set<string>();

  register(receiver: Receiver, names: readonly string[]): void {
    for (const name of names) receiver.on('transfer.*', () => this.#run(name), { name });
    receiver.on('transfer.*', () => this.#run('unnamed'));
  }

  /** The names of those that ran since the last call, in alphabetical order. */
  takeRuns(): string[] {
    return this.runs.splice(0).sort();
  }

  #run(name: string): void {
    this.runs.push(name);
    if (this.broken.has(name)) throw new Error(`${name} is broken`);
  }
}

test('all handlers run side by side and to their end, though one has failed', async () => {
  const held = new HeldHandler();
  const event = eventAt(Date.now());
  const { reports, send } = await openEndpoint({}, (receiver) =>
    receiver
      .on('transfer.*', () => Promise.reject(new Error('broken')), { name: 'broken' })
      .on('transfer.succeeded', held.handle, { name: 'first' })
      .on('*', held.handle)
      .on('transfer.failed', held.handle, { name: 'of another event' }),
  );
  const answer = send(event);
  await held.calls.nth(2);
  expect(reports.all).toEqual([]);
  for (const call of held.calls.all) call.succeed();
  expect(await answer).toEqual(refused(500, 'handler_failed'));
  expect(held.calls.all).toHaveLength(2);
  expect(reports.all[0]?.error?.message).toContain('"broken"');
  const told = reports.all[0]?.handlers.map(({ name, ok }) => `${name} ${ok}`);
  expect(told?.sort()).toEqual(['broken false', 'first true', 'undefined true']);
});

test('handlers of an event share it: a change is seen by the others, and by nothing else', async () => {
  const seen: unknown[] = [];
  const event = eventAt(Date.now());
  const { reports, send } = await openEndpoint({}, (receiver) =>
    receiver
      .on('*', (shared) => Object.assign(shared, { id: 'evt_other', data: null }))
      .on('*', ({ id, data }) => seen.push(id, data)),
  );
  expect(await send(event)).toEqual(accepted('processed', event.id));
  expect(seen).toEqual(['evt_other', null]);
  expect(reports.all[0]?.event).toEqual({ id: event.id, type: event.type });
  expect(await send(event)).toEqual(accepted('duplicate', event.id));
});

test('a retry runs only what has not finished; unnamed handlers run each time', async () => {
  const handlers = new Handlers();
  const event = eventAt(Date.now());
  const { reports, send } = await openEndpoint({}, (receiver) =>
    handlers.register(receiver, ['book', 'mail', 'tell']),
  );
  for (const name of ['mail', 'tell']) handlers.broken.add(name);
  expect(await send(event)).toEqual(refused(500, 'handler_failed'));
  expect(handlers.takeRuns()).toEqual(['book', 'mail', 'tell', 'unnamed']);

  handlers.broken.delete('mail');
  expect(await send(event)).toEqual(refused(500, 'handler_failed'));
  expect(handlers.takeRuns()).toEqual(['mail', 'tell', 'unnamed']);

  handlers.broken.delete('tell');
  expect(await send(event)).toEqual(accepted('processed', event.id));
  expect(handlers.takeRuns()).toEqual(['tell', 'unnamed']);
  expect(reports.all.map((report) => report.handlers.length)).toEqual([4, 3, 2]);

  expect(await send(event)).toEqual(accepted('duplicate', event.id));
  expect(handlers.takeRuns()).toEqual([]);
});

test('what has finished is known to other processes, and by name wherever it is registered', async () => {
  const store = createMemoryStore();
  const before = new Handlers();
  const event = eventAt(Date.now());
  const first = await openEndpoint({ store }, (receiver) => before.register(receiver, ['book', 'mail']));
  before.broken.add('mail');
  expect(await first.send(event)).toEqual(refused(500, 'handler_failed'));

  const after = new Handlers();
  const second = await openEndpoint({ store }, (receiver) =>
    after.register(receiver, ['new', 'mail', 'book']),
  );
  expect(await second.send(event)).toEqual(accepted('processed', event.id));
  expect(after.takeRuns()).toEqual(['mail', 'new', 'unnamed']);
});

test('what finished after the deadline is not run again', async () => {
  const held = new HeldHandler();
  const handlers = new Handlers();
  handlers.broken.add('mail');
  const event = eventAt(Date.now());
  const { reports, send } = await openEndpoint({ deadlineMs: 100 }, (receiver) => {
    receiver.on('transfer.*', held.handle, { name: 'slow' });
    handlers.register(receiver, ['mail']);
  });
  expect(await send(event)).toEqual(refused(503, 'deadline_reached'));
  held.calls.all[0]?.succeed();
  expect(await reports.first(({ late }) => late)).toMatchObject({ outcome: 'failed' });
  handlers.broken.clear();
  expect(await send(event)).toEqual(accepted('processed', event.id));
  expect(held.calls.all).toHaveLength(1);
  expect(handlers.takeRuns()).toEqual(['mail', 'mail', 'unnamed', 'unnamed']);
});

test('what finished before maxRunMs is not run again', async () => {
  const held = new HeldHandler();
  const handlers = new Handlers();
  const event = eventAt(Date.now());
  const { send } = await openEndpoint({ maxRunMs: 400 }, (receiver) => {
    receiver.on('transfer.*', held.handle, { name: 'hangs' });
    handlers.register(receiver, ['book']);
  });
  expect(await send(event)).toEqual(refused(503, 'run_timeout'));
  const retried = send(event);
  (await held.calls.nth(2)).succeed();
  expect(await retried).toEqual(accepted('processed', event.id));
  expect(handlers.takeRuns()).toEqual(['book', 'unnamed', 'unnamed']);
});
