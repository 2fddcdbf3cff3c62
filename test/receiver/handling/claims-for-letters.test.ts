import { createMemoryStore, createReceiver, type Receiver, type Store } from 'posthorn';
import { expect, test } from 'vitest';
import { fakeTime } from '../../support/fake-time.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { KEY } from '../../support/served.ts';
import { ListQueue } from '../queue/list-queue.ts';
import { letterAt } from './drop-or-replay.ts';

const LEASE_MS = 3_000;
const letter = letterAt(Date.now());
const failure = { code: 'handler_failed', message: 'no such account' } as const;
const job = { ...letter, handlers: ['book'] };

test.for<[string, (receiver: Receiver) => Promise<unknown>, unknown]>([
  ['a drop', (receiver) => receiver.drop(letter), true],
  ['a replay', (receiver) => receiver.replay(letter), expect.objectContaining({ outcome: 'processed' })],
  [
    'the parking of a failed job',
    (receiver) => receiver.dispatch(job, { attempt: 3, final: true, failure }),
    expect.objectContaining({ outcome: 'parked' }),
  ],
])('%s ends the renewal of its claims: the process lives no longer for them', async ([, act, result]) => {
  const pass = fakeTime();
  const memory = createMemoryStore();
  const renewals: unknown[] = [];
  const renew: Store['renew'] = (request) => {
    renewals.push(request);
    return memory.renew(request);
  };
  const deadLetters = createMapDeadLetters(new Map([[letter.id, letter]]));
  const options = { signingKey: KEY, deadLetters, queue: new ListQueue(), leaseMs: LEASE_MS };
  const receiver = createReceiver({ ...options, store: { ...memory, renew } }).observe(() => {});
  receiver.on('transfer.*', () => {}, { name: 'book', queue: true });
  expect(await act(receiver)).toEqual(result);
  await pass(LEASE_MS);
  expect(renewals).toEqual([]);
});
