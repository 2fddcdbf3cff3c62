import type { JournalEntry, Store } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { Gate } from '../../../support/gate.ts';
import { handledEntry } from '../../../support/handled-entry.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { openDirectly } from '../../../support/open-endpoint.ts';
import { throwing } from '../../../support/throwing.ts';
import { ListQueue } from '../../queue/list-queue.ts';
import { asUserStore } from '../run/user-store.ts';
import { openCounting } from './counting.ts';
import { FIX, foreseeRerun, handledIn } from './rerunning.ts';

const event = createEvent('transfer.succeeded');
const entry = handledEntry(event);

test('a rerun that has not been would run, and asking changes nothing', async () => {
  const store = await handledIn(event);
  const noWrite: Partial<Store> = {
    claim: throwing('a claim'),
    complete: throwing('a completion'),
    release: throwing('a release'),
  };
  const asked = openCounting({ store: { ...store, ...noWrite } });
  expect(await foreseeRerun(asked.receiver, entry)).toEqual({ prospect: 'wouldRun' });
  expect([asked.runs, asked.reports.all]).toEqual([[], []]);
  const { receiver } = openCounting({ store });
  expect(await receiver.rerun(entry, FIX)).toMatchObject({ outcome: 'processed', attempt: 1 });
});

test('a rerun that has been is done, but not one of another name', async () => {
  const { receiver } = openCounting();
  await receiver.rerun(entry, FIX);
  expect(await foreseeRerun(receiver, entry)).toEqual({ prospect: 'done' });
  expect(await foreseeRerun(receiver, entry, { handlers: ['book'], run: 'another' })).toEqual({
    prospect: 'wouldRun',
  });
  expect(await foreseeRerun(receiver, entry, { handlers: ['book'] })).toEqual({ prospect: 'wouldRun' });
});

test.each([
  ['the same receiver', true],
  ['another receiver of the store', false],
])('an event that %s is handling is running', async (_title, isSame) => {
  const store = await handledIn(createEvent('transfer.succeeded'));
  const held = new HeldHandler();
  const register = on(held);
  const [one, other] = [openDirectly({ store }, register), openDirectly({ store }, register)];
  const sent = one.send(event);
  const call = await held.calls.nth(1);
  expect(await foreseeRerun((isSame ? one : other).receiver, entry)).toEqual({ prospect: 'running' });
  call.succeed();
  await sent;
  expect(await foreseeRerun(other.receiver, entry)).toEqual({ prospect: 'wouldRun' });
});

function on(held: HeldHandler): Parameters<typeof openDirectly>[1] {
  return (receiver) => void receiver.on('*', held.handle, { name: 'book' });
}

test('a handler that another rerun has is running', async () => {
  const held = new HeldHandler();
  const { receiver } = openDirectly({ store: await handledIn(event) }, on(held));
  const rerun = receiver.rerun(entry, FIX);
  const call = await held.calls.nth(1);
  const prospects = [
    await foreseeRerun(receiver, entry),
    await foreseeRerun(receiver, entry, { handlers: ['book'] }),
  ];
  call.succeed();
  await rerun;
  expect(prospects).toEqual([{ prospect: 'running' }, { prospect: 'running' }]);
});

test('an event that is being enqueued is running', async () => {
  const queue = new ListQueue();
  const adding = new Gate();
  queue.instead = adding.pass;
  adding.shut();
  const { receiver, send } = openDirectly({ queue }, (opened) =>
    opened.on('*', () => {}, { name: 'book' }).on('*', () => {}, { name: 'mail', queue: true }),
  );
  const sent = send(event);
  await adding.held.nth(1);
  const foreseen = await foreseeRerun(receiver, entry);
  adding.open();
  await sent;
  expect(foreseen).toEqual({ prospect: 'running' });
});

test.each<[string, JournalEntry, string]>([
  ['without a body', handledEntry(event, { rawBody: undefined }), 'body_missing'],
  ['of a handler that has not finished', handledEntry(event, { handled: ['mail'] }), 'handler_unfinished'],
  ['of another provider', handledEntry(event, { provider: 'stripe' }), 'provider_mismatch'],
  ['whose body is not an event', handledEntry(event, { rawBody: Buffer.from('{') }), 'body_not_json'],
  [
    'whose type the handler takes no more',
    handledEntry(createEvent('dispute.created')),
    'configuration_invalid',
  ],
])('an entry %s is refused', async (_title, refused, code) => {
  const { receiver } = openCounting();
  expect(await foreseeRerun(receiver, refused)).toMatchObject({ prospect: 'refused', error: { code } });
});

test('wrong options reject, and so does a store that fails', async () => {
  const { receiver } = openCounting();
  await expect(foreseeRerun(receiver, entry, { handlers: ['bok'] })).rejects.toThrow('the nearest is "book"');
  const broken = openCounting({ store: { ...(await handledIn(event)), peek: throwing('no connection') } });
  await expect(foreseeRerun(broken.receiver, entry)).rejects.toMatchObject({ code: 'store_unavailable' });
});

test('with a store without peek, what has been done seems to run, but is a duplicate', async () => {
  const { receiver, runs } = openCounting({ store: asUserStore(await handledIn(event)) });
  expect(await receiver.rerun(entry, FIX)).toMatchObject({ outcome: 'processed' });
  expect(await foreseeRerun(receiver, entry)).toEqual({ prospect: 'wouldRun' });
  expect(await receiver.rerun(entry, FIX)).toMatchObject({ outcome: 'duplicate' });
  expect(runs).toHaveLength(1);
});
