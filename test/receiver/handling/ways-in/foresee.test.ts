import type { Queue, Store } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { expect, test } from 'vitest';
import type { Foreseen } from '../../../../src/receiver/handling/ways-in/foresee.ts';
import { WebhookReceiver } from '../../../../src/receiver/receiver.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { type DirectEndpoint, eventAt, openDirectly } from '../../../support/open-endpoint.ts';
import { MINUTE_MS, stepClocked } from '../../../support/step-clock.ts';
import { throwing } from '../../../support/throwing.ts';
import { asUserStore } from '../run/user-store.ts';
import { openCounting, SOURCE } from './counting.ts';

/** Asks as the command line does, which has the receiver itself. */
function ask({ receiver }: Pick<DirectEndpoint, 'receiver'>, event: object | string): Promise<Foreseen> {
  if (!(receiver instanceof WebhookReceiver)) throw new Error('not a receiver of this build');
  return receiver.foresee(event, SOURCE);
}

const event = createEvent('transfer.succeeded');

test('an unknown event would run, and asking changes nothing', async () => {
  const { clock, store } = stepClocked();
  const written: string[] = [];
  const note = <Request, Result>(name: string, operation: (request: Request) => Result) => {
    return (request: Request): Result => {
      written.push(name);
      return operation(request);
    };
  };
  const { claim, complete, release } = store;
  const noted: Store = {
    ...store,
    claim: note('claim', claim),
    complete: note('complete', complete),
    release: note('release', release),
  };
  const opened = openCounting({ store: noted, now: clock.now });
  const young = eventAt(clock.startedAt);
  expect(await ask(opened, young)).toMatchObject({
    prospect: 'wouldRun',
    event: { id: young.id, type: young.type, createdAtMs: clock.startedAt },
  });
  expect([written, opened.runs, opened.reports.all]).toEqual([[], [], []]);
  expect(await opened.receiver.accept(young, SOURCE)).toMatchObject({ outcome: 'processed', attempt: 1 });
});

test('an event that was handled is known', async () => {
  const opened = openCounting();
  await opened.send(event);
  expect(await ask(opened, event)).toMatchObject({ prospect: 'known' });
});

test('an event that runs is running', async () => {
  const held = new HeldHandler();
  const opened = openDirectly({}, (receiver) => receiver.on('*', held.handle));
  const sent = opened.send(event);
  const call = await held.calls.nth(1);
  expect(await ask(opened, event)).toMatchObject({ prospect: 'running' });
  call.succeed();
  await sent;
});

test('an event that waits for a replay is parked', async () => {
  const { deadLetters } = stepClocked();
  const opened = openCounting({ deadLetters });
  opened.state.failure = new Error('no database');
  await opened.receiver.accept(event, SOURCE);
  expect(await ask(opened, event)).toMatchObject({ prospect: 'parked' });
});

test('an event without a handler is ignored', async () => {
  expect(await ask(openCounting(), createEvent('dispute.created'))).toMatchObject({ prospect: 'ignored' });
});

test('an event that the store may have forgotten is too old, and one that it knows is known', async () => {
  const { clock, store } = stepClocked();
  const opened = openCounting({ store, now: clock.now });
  const [handled, missed] = [eventAt(clock.startedAt), eventAt(clock.startedAt)];
  clock.moveTo(23 * 60 * MINUTE_MS);
  await opened.receiver.accept(handled, SOURCE);
  clock.moveTo(30 * 60 * MINUTE_MS);
  expect(await ask(opened, missed)).toMatchObject({ prospect: 'tooOld', error: { code: 'event_too_old' } });
  expect(await ask(opened, handled)).toMatchObject({ prospect: 'known' });
});

test.each([
  ['text that is not JSON', 'nonsense', 'body_not_json'],
  ['an object that is not an event', {}, 'envelope_invalid'],
  ['an event of the future', eventAt(Date.now() + 60 * MINUTE_MS), 'event_in_future'],
])('%s is unreadable', async (_title, given, code) => {
  expect(await ask(openCounting(), given)).toMatchObject({ prospect: 'unreadable', error: { code } });
});

test('a store without peek cannot tell', async () => {
  const opened = openCounting({ store: asUserStore(stepClocked().store) });
  expect(await ask(opened, event)).toMatchObject({ prospect: 'uncertain' });
});

test('with a queue, an event that was enqueued is known', async () => {
  const queue: Queue = { add: async () => {}, close: async () => {} };
  const opened = openDirectly({ queue }, (receiver) =>
    receiver.on('*', () => {}, { name: 'book', queue: true }),
  );
  await opened.send(event);
  expect(await ask(opened, event)).toMatchObject({ prospect: 'known' });
});

test('rejects if the store or the dead letters do not answer, or if there are no handlers', async () => {
  const { deadLetters, store } = stepClocked();
  const unread = openCounting({ deadLetters: { ...deadLetters, get: throwing('no disk') } });
  await expect(ask(unread, event)).rejects.toMatchObject({ code: 'store_unavailable' });
  const broken = openCounting({ store: { ...store, peek: throwing('no connection') } });
  await expect(ask(broken, event)).rejects.toMatchObject({ code: 'store_unavailable' });
  await expect(
    ask(
      openDirectly({}, () => {}),
      event,
    ),
  ).rejects.toMatchObject({ code: 'no_handlers' });
});
