import { createMemoryStore, createReceiver, type Receiver, type Store } from 'posthorn';
import { expect, test } from 'vitest';
import { fakeTime } from '../../support/fake-time.ts';
import { shutGate } from '../../support/gate.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import type { EndpointOptions } from '../../support/open-endpoint.ts';
import { KEY } from '../../support/served.ts';
import { ListQueue } from '../queue/list-queue.ts';
import { letterAt } from './drop-or-replay.ts';

const LEASE_MS = 3_000;
const letter = letterAt(Date.now());
const failure = { code: 'handler_failed', message: 'no such account' } as const;
const job = { ...letter, handlers: ['book'] };

const open = (options: EndpointOptions): Receiver =>
  createReceiver({ signingKey: KEY, queue: new ListQueue(), ...options })
    .on('transfer.*', () => {}, { name: 'book', queue: true })
    .observe(() => {});
const park = (receiver: Receiver) => receiver.dispatch(job, { attempt: 3, final: true, failure });

test.for<[string, (receiver: Receiver) => Promise<unknown>, unknown]>([
  ['a drop', (receiver) => receiver.drop(letter), true],
  ['a replay', (receiver) => receiver.replay(letter), expect.objectContaining({ outcome: 'processed' })],
  ['the parking of a failed job', park, expect.objectContaining({ outcome: 'parked' })],
])('%s ends the renewal of its claims: the process lives no longer for them', async ([, act, result]) => {
  const pass = fakeTime();
  const memory = createMemoryStore();
  const renewals: unknown[] = [];
  const renew: Store['renew'] = (request) => {
    renewals.push(request);
    return memory.renew(request);
  };
  const deadLetters = createMapDeadLetters(new Map([[letter.id, letter]]));
  const receiver = open({ deadLetters, leaseMs: LEASE_MS, store: { ...memory, renew } });
  expect(await act(receiver)).toEqual(result);
  await pass(LEASE_MS);
  expect(renewals).toEqual([]);
});

test('a failed job is parked under a claim that outlasts its lease', async () => {
  const pass = fakeTime();
  const store = createMemoryStore();
  const gate = shutGate();
  const deadLetters = { ...createMapDeadLetters(), put: gate.pass };
  const parked = park(open({ store, deadLetters, leaseMs: 600 }));
  await gate.held.nth(1);
  await pass(1_000);
  const claim = { id: letter.id, token: 'another', leaseMs: 600, retentionMs: 600 };
  expect(await store.claim(claim)).toMatchObject({ state: 'busy' });
  gate.open();
  expect(await parked).toMatchObject({ outcome: 'parked' });
});

test('a failed job is not parked by a process that was frozen until its claim was lost', async () => {
  const memory = createMemoryStore();
  const claim: Store['claim'] = (request) => {
    const endsAt = performance.now() + 5;
    while (performance.now() < endsAt); // The event loop is blocked for longer than the lease.
    return memory.claim(request);
  };
  const letters = new Map();
  const store: Store = { ...memory, claim, renew: () => ({ state: 'lost' }) };
  const receiver = open({ store, deadLetters: createMapDeadLetters(letters), leaseMs: 1 });
  expect(await park(receiver)).toMatchObject({ outcome: 'busy', code: 'event_running' });
  expect(letters.size).toBe(0);
});
