import { createMemoryStore, createReceiver } from 'posthorn';
import { createBullQueue } from 'posthorn/bullmq';
import { createEvent } from 'posthorn/testing';
import { expect } from 'vitest';
import type { Fixture } from '../../stores/redis/fixture.ts';
import { TcpProxy } from '../../stores/redis/tcp-proxy.ts';
import { closedAtEnd } from '../../support/closed-at-end.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { KEY } from '../../support/served.ts';
import { until } from '../../support/until.ts';
import { book } from './queue-fixture.ts';

const DELIVERIES = 20;

/** Opens a receiver with a queue; returns what delivers to it, and resolves with 202 or a refusal. */
export function openQueueOn(connection: object) {
  const queue = closedAtEnd(createBullQueue({ connection, scope: `blips-${Math.random()}` }));
  const receiver = createReceiver({ signingKey: KEY, queue, store: createMemoryStore() }).observe(() => {});
  book(() => {})(receiver);
  return async (event: object = createEvent('transfer.succeeded')) => {
    const { status, body } = await receiver.receive(deliveryOf(event));
    return status === 202 ? status : body;
  };
}

/** Cuts the connection of a queue so many times, and fails unless each delivery meanwhile is queued. */
export async function expectNoRefusal(
  fixture: Fixture,
  blips: number,
  connectionTo: (port: number) => object,
): Promise<void> {
  const proxy = await TcpProxy.start(fixture.redis.port);
  const deliver = openQueueOn(connectionTo(proxy.port));
  // The process has just started.
  expect(await deliver()).toBe(202);
  const deliverMany = () => Promise.all(Array.from({ length: DELIVERIES }, () => deliver()));
  const queued = Array(DELIVERIES).fill(202);
  for (let blip = 1; blip <= blips; blip += 1) {
    const accepted = proxy.acceptedCount;
    const before = deliverMany();
    proxy.cutConnections();
    const atOnce = deliverMany();
    // No new connection becomes ready: the client asks Redis first.
    proxy.holdRequests();
    await until('the client connects again', () => proxy.acceptedCount > accepted);
    const meanwhile = deliverMany();
    proxy.passRequests();
    expect(await before).toEqual(queued);
    expect(await atOnce).toEqual(queued);
    expect(await meanwhile).toEqual(queued);
  }
}
