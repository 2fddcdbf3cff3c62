import { createMemoryStore, createReceiver, type Reply, type Store } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { deliveryOf } from '../support/delivery-of.ts';
import { KEY } from '../support/served.ts';
import { until } from '../support/until.ts';

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
