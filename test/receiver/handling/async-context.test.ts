import { AsyncLocalStorage } from 'node:async_hooks';
import { createMemoryStore, createReceiver, type Receiver } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { expect, onTestFinished, test } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { letterOf } from '../../support/letter-of.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { KEY } from '../../support/served.ts';

const storage = new AsyncLocalStorage<string>();

/** A receiver that notes in which async context its middleware, its handler and its observer run. */
function open(register: (receiver: Receiver) => void = () => {}) {
  const seen: string[] = [];
  const note = (subject: string): void => void seen.push(`${subject} of ${storage.getStore()}`);
  const deadLetters = createMapDeadLetters();
  const receiver = createReceiver({ signingKey: KEY, store: createMemoryStore(), deadLetters });
  onTestFinished(async () => void (await receiver.close({ graceMs: 0 })));
  receiver
    .use((_event, { handler }, next) => {
      note('middleware');
      return storage.run(`${storage.getStore()}, ${handler.name}`, next);
    })
    .observe(() => note('report'));
  register(receiver);
  return { deadLetters, note, receiver, seen };
}

test('middleware and report see the context of the caller of receive, and the handler that of its middleware', async () => {
  const { note, receiver, seen } = open((opened) => {
    for (const name of ['book', 'mail']) {
      opened.on(
        'transfer.*',
        async () => {
          note(name);
          await new Promise(setImmediate);
          note(`${name} later`);
        },
        { name },
      );
    }
  });
  const receive = (name: string) =>
    storage.run(name, () => receiver.receive(deliveryOf(createEvent('transfer.created'))));
  await Promise.all([receive('A'), receive('B')]);
  const ofOne = (name: string): string[] =>
    seen.filter((entry) => entry.includes(` of ${name}`)).map((entry) => entry.replace(name, '1'));
  const expected = [
    ...['middleware of 1', 'book of 1, book', 'middleware of 1', 'mail of 1, mail'],
    ...['book later of 1, book', 'mail later of 1, mail', 'report of 1'],
  ];
  expect(ofOne('A')).toEqual(expected);
  expect(ofOne('B')).toEqual(expected);
});

test('a delivery that joins a run is reported in its own context; the run keeps that of the first', async () => {
  const held = new HeldHandler();
  const { receiver, seen } = open((opened) => opened.on('transfer.*', held.handle, { name: 'book' }));
  const event = createEvent('transfer.created');
  const first = storage.run('A', () => receiver.receive(deliveryOf(event)));
  const call = await held.calls.nth(1);
  const joining = { ...deliveryOf(event), timeLimitMs: 100 };
  expect(await storage.run('B', () => receiver.receive(joining))).toMatchObject({ status: 503 });
  storage.run('C', call.succeed);
  await first;
  expect(seen).toEqual(['middleware of A', 'report of B', 'report of A']);
});

test('so do a replay and its report', async () => {
  let fails = true;
  const { deadLetters, receiver, seen } = open((opened) =>
    opened.on('transfer.*', () => (fails ? Promise.reject(new Error('locked')) : undefined)),
  );
  const event = {
    ...createEvent('transfer.created'),
    created_at: new Date(Date.now() - 3_600_000).toISOString(),
  };
  await storage.run('A', () => receiver.receive(deliveryOf(event)));
  fails = false;
  const letter = await letterOf(deadLetters, event.id);
  await storage.run('B', () => receiver.replay(letter));
  expect(seen).toEqual(['middleware of A', 'report of A', 'middleware of B', 'report of B']);
});
