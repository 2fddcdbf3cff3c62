import { createMemoryStore, createReceiver, type Reply, type Store } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { BodyMemory } from '../../../src/receiver/request/body-memory.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { shutGate } from '../../support/gate.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { KEY } from '../../support/served.ts';
import { until } from '../../support/until.ts';

const MIB = 1_048_576;

/** A receiver whose events are all being handled by another process. */
function openBeside(maxBufferedBytes: number) {
  const memory = createMemoryStore();
  const claims: string[] = [];
  const store: Store = {
    ...memory,
    claim: async (request) => {
      claims.push(request.id);
      return memory.claim(request);
    },
  };
  const receiver = createReceiver({ signingKey: KEY, store, maxBufferedBytes }).observe(() => {});
  receiver.on('transfer.*', () => {});
  const begin = async (note: string) => {
    const event = createEvent('transfer.succeeded', { data: { note } });
    const { id } = event;
    await memory.claim({ id, token: 'another', leaseMs: 60_000, retentionMs: 60_000 });
    const release = () => memory.release({ id, token: 'another', retentionMs: 60_000, handled: [] });
    return { id, release, deliver: () => receiver.receive(deliveryOf(event)) };
  };
  return { begin, claims };
}

test('of the deliveries that wait for another process one body per event is held, and counted', async () => {
  const { begin, claims } = openBeside(2.75 * MIB);
  const long = 'x'.repeat(0.9 * MIB);
  const longer = 'x'.repeat(0.99 * MIB);
  const [first, second, third, short] = await Promise.all([
    begin(long),
    begin(long),
    begin(longer),
    begin(''),
  ]);
  const waiting: Promise<Reply>[] = [];
  for (const { id, deliver } of [first, second]) {
    waiting.push(deliver());
    await until('the event has been claimed in vain', () => claims.includes(id));
  }
  for (let count = 0; count < 10; count += 1) {
    waiting.push(first.deliver());
    // Each has joined the run, and let its body go, when the event loop comes round again.
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { status, body } = await third.deliver();
  expect([status, JSON.parse(body).code]).toEqual([503, 'buffer_full']);
  await short.release();
  expect(await short.deliver(), 'what has room goes through').toMatchObject({ status: 200 });

  await Promise.all([first, second, third].map(({ release }) => release()));
  const outcomes = (await Promise.all(waiting)).map((reply) => JSON.parse(reply.body).outcome);
  expect(outcomes.filter((outcome) => outcome === 'processed')).toHaveLength(2);
  expect(outcomes.filter((outcome) => outcome === 'duplicate')).toHaveLength(10);
  expect(await third.deliver()).toMatchObject({ status: 200 });
});

test('the body of a last attempt counts while its letter waits for a connection', async () => {
  const gate = shutGate();
  const map = createMapDeadLetters();
  const get = async (id: string) => {
    await gate.pass();
    return map.get(id);
  };
  const deadLetters = { ...map, get, mustWait: () => true };
  const limits = { maxBodyBytes: MIB, maxBufferedBytes: 2.5 * MIB, maxEventAgeMs: Number.POSITIVE_INFINITY };
  const receiver = createReceiver({ signingKey: KEY, deadLetters, ...limits }).observe(() => {});
  receiver.on('transfer.*', () => {});
  const deliver = () => {
    const event = createEvent('transfer.succeeded', { note: 'x'.repeat(0.9 * MIB) });
    return receiver.receive(deliveryOf({ ...event, created_at: '2026-01-02T03:04:05Z' }));
  };
  const waiting = [deliver(), deliver()];
  await gate.held.nth(2);
  const { status, body } = await deliver();
  expect([status, JSON.parse(body).code]).toEqual([503, 'buffer_full']);
  gate.open();
  for (const reply of await Promise.all(waiting)) expect(reply).toMatchObject({ status: 200 });
  expect(await deliver()).toMatchObject({ status: 200 });
});

test('a body that does not fit anyway makes no other give way', () => {
  const memory = new BodyMemory(10);
  const gaveWay: string[] = [];
  memory.grow(
    memory.open(() => gaveWay.push('unfinished')),
    3,
  );
  expect(memory.reserve(6)).toBe(true);
  expect([memory.reserve(5), gaveWay]).toEqual([false, []]);
  expect([memory.reserve(4), gaveWay]).toEqual([true, ['unfinished']]);
});
