import { setTimeout } from 'node:timers/promises';
import { createMemoryStore, createReceiver, type Receiver, type ReceiverOptions, type Store } from 'posthorn';
import { createPostgresDeadLetters } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { describe, test } from 'vitest';
import { IdImport } from '../../../src/cli/ids/id-import.ts';
import { defaults } from '../../../src/create-receiver.ts';
import { readOptions } from '../../../src/receiver/settings.ts';
import { letter } from '../../cli/letters.ts';
import { ListQueue } from '../../receiver/queue/list-queue.ts';
import { clientOf } from '../../service/client/secrets.ts';
import { deliveryOf } from '../delivery-of.ts';
import { leavesPending } from '../leaves-pending.ts';
import { KEY } from '../served.ts';

// Started by test/support/late-failures.program.test.ts.

const never = (): Promise<never> => new Promise(() => {});
const commandTimeoutMs = 60_000;

function open(
  options: Partial<ReceiverOptions<Record<never, never>>>,
  handle: () => unknown = () => {},
): Receiver {
  const receiver = createReceiver({ signingKey: KEY, ...options }).observe(() => {});
  return receiver.on('*', handle, { name: 'book', ...(options.queue && { queue: true }) });
}

const send = (receiver: Receiver) => receiver.receive(deliveryOf(createEvent('transfer.succeeded')));
const withStore = (operations: Partial<Store>) => ({
  store: { ...createMemoryStore(), ...operations, commandTimeoutMs },
});

const begin: Readonly<Record<string, () => unknown>> = {
  'a claim': () => send(open(withStore({ claim: never }))),
  'a completion': () => send(open(withStore({ complete: never }))),
  'a release': () => send(open(withStore({ release: never }), () => Promise.reject(new Error('no')))),
  'a handler': () => send(open({}, never)),
  'a replay': () => open({}, never).replay(letter('evt_1')),
  'a job': async () => {
    const queue = new ListQueue();
    const receiver = open({ queue }, never);
    await send(receiver);
    await receiver.dispatch(queue.take(), { attempt: 1, final: false });
  },
  'an end that waits for a handler': () => {
    const receiver = open({}, never);
    void send(receiver);
    return receiver.close({ graceMs: 60_000 });
  },
  'a letter': () => {
    const pool = { totalCount: 0, connect: () => {} };
    return createPostgresDeadLetters(pool, { scope: 'test', commandTimeoutMs }).put(letter('evt_1'));
  },
  'an import of an id': () => {
    const options = { signingKey: KEY, ...withStore({ complete: never }) };
    return new IdImport(readOptions(options, defaults)).take({ id: 'evt_1', recordedAt: 0 });
  },
  'a call of a client': () => {
    const profile = { accessToken: never };
    return clientOf('http://127.0.0.1:9', { profile, timeoutMs: 60_000 }).currencies.list();
  },
};

/** Begins it, and ends its test before it ends. */
async function leave(name: string): Promise<void> {
  void begin[name]?.();
  await setTimeout(200);
}

describe.concurrent('operations', () => {
  test.each(Object.keys(begin))('%s', leave);

  test('that have an end soon', async () => {
    void open({ store: { ...createMemoryStore(), claim: never } }).replay(letter('evt_1'));
    await setTimeout(200);
  });

  test('that may be left', async () => {
    leavesPending('nobody waits for it');
    await leave('a claim');
  });

  test('of which there is none', () => leavesPending('this is not so'));
});
