import { type ClaimRequest, createMemoryStore, createReceiver, type Receiver, type Store } from 'posthorn';
import { expect, test } from 'vitest';
import { deliveryOf } from '../../../support/delivery-of.ts';
import { fakeTime } from '../../../support/fake-time.ts';
import { shutGate } from '../../../support/gate.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import { type EndpointOptions, eventAt } from '../../../support/open-endpoint.ts';
import { Seen } from '../../../support/seen.ts';
import { KEY } from '../../../support/served.ts';
import { MINUTE_MS } from '../../../support/step-clock.ts';
import { throwing } from '../../../support/throwing.ts';
import { unanswered } from '../../../support/unanswered.ts';
import { ListQueue } from '../../queue/list-queue.ts';
import { letterAt } from '../ways-in/drop-or-replay.ts';

const LEASE_MS = 3_000;
const letter = letterAt(Date.now());
const tooOld = eventAt(Date.now() - 2_000 * MINUTE_MS);
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

test.for<[string, (receiver: Receiver) => Promise<unknown>]>([
  ['a drop', (receiver) => receiver.drop(letter)],
  ['a replay', (receiver) => receiver.replay(letter)],
  ['the parking of a failed job', park],
  ['a second look at the id of a letter', (receiver) => receiver.receive(deliveryOf(tooOld))],
])('%s whose process is killed while it has the id is not an attempt', async ([, act]) => {
  const pass = fakeTime();
  const memory = createMemoryStore();
  const claims = new Seen<ClaimRequest>();
  // Nothing more reaches the store after the first claim.
  const claim: Store['claim'] = (request) => {
    if (claims.all.length === 0) memory.claim(request);
    claims.add(request);
    return unanswered();
  };
  const away = { renew: unanswered, complete: unanswered, release: unanswered };
  const store = { claim, ...away, commandTimeoutMs: 60_000 };
  const deadLetters = createMapDeadLetters(new Map([[letter.id, letter]]));
  void act(open({ deadLetters, leaseMs: LEASE_MS, store })).catch(() => {});
  const held = await claims.nth(1);
  await pass(LEASE_MS + 20);
  expect(await memory.claim({ ...held, token: 'a run' })).toMatchObject({ attempt: 1, abandoned: 0 });
});

test.for([
  ['running', { outcome: 'busy', code: 'event_running' }],
  ['completed', { outcome: 'duplicate' }],
] as const)('a failed job whose event is %s is not claimed', async ([state, report]) => {
  const claim: Store['claim'] = () => expect.fail('a claim');
  const store: Store = { ...createMemoryStore(), claim, peek: () => ({ state }) };
  expect(await park(open({ store, deadLetters: createMapDeadLetters() }))).toMatchObject(report);
});

test.for([
  ['throws', throwing('no store')],
  ['rejects', () => Promise.reject(new Error('no store'))],
] as const)('a failed job is parked all the same if the look at its event %s', async ([, peek]) => {
  const store: Store = { ...createMemoryStore(), peek };
  const parked = park(open({ store, deadLetters: createMapDeadLetters() }));
  expect(await parked).toMatchObject({ outcome: 'parked', warnings: [] });
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
