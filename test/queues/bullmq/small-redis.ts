import { createReceiver } from 'posthorn';
import { type BullQueueOptions, createBullQueue } from 'posthorn/bullmq';
import { createRedisDeadLetters } from 'posthorn/redis';
import { createEvent } from 'posthorn/testing';
import { expect } from 'vitest';
import type { Fixture } from '../../stores/redis/fixture.ts';
import type { RedisServer } from '../../stores/redis/servers.ts';
import { closedAtEnd } from '../../support/closed-at-end.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { letterOf } from '../../support/letter-of.ts';
import { ampleDeadlines } from '../../support/limits.ts';
import { eventAt } from '../../support/open-endpoint.ts';
import { Seen } from '../../support/seen.ts';
import { KEY } from '../../support/served.ts';
import { book, openQueue } from './queue-fixture.ts';

const HOUR_MS = 3_600_000;
export const MAX_BYTES: number = 8 * 1_048_576;
/** The settings of a Redis that a queue can fill. */
export const SMALL = { maxmemory: '8mb', 'maxmemory-policy': 'noeviction' } as const;
/** More than fits, by far. */
export const MOST_EVENTS = 10_000;
export const AT_ONCE = 50;

/** An event with a body of so many bytes or a little more. */
function eventOf(bytes: number) {
  return { ...createEvent('transfer.succeeded'), note: 'x'.repeat(bytes) };
}

/** A number of INFO: of its memory, for example. */
export function infoOf({ command }: RedisServer, name: string): number {
  const line = new RegExp(`^${name}:(\\d+)`, 'm').exec(command('info', 'everything'));
  return Number(line?.[1] ?? Number.NaN);
}

/** A receiver whose queue is in the Redis, and whose store is not. */
export function accept(options: Omit<BullQueueOptions, 'scope'> & { readonly scope?: string }) {
  const queue = closedAtEnd(createBullQueue({ scope: 'full', ...options }));
  const receiver = createReceiver({ signingKey: KEY, queue, ...ampleDeadlines }).observe(() => {});
  book(() => {})(receiver);
  closedAtEnd(receiver);
  const deliver = async (bytes: number): Promise<number> =>
    (await receiver.receive(deliveryOf(eventOf(bytes)))).status;
  /** Sends events of so many bytes until one is refused, and gives how many were accepted. */
  const fill = async (bytes: number): Promise<number> => {
    for (let accepted = 0; accepted < MOST_EVENTS; accepted += 1) {
      if ((await deliver(bytes)) !== 202) return accepted;
    }
    return MOST_EVENTS;
  };
  return { deliver, fill, queue, receiver };
}

/** Fills a Redis with events of so many bytes, has a worker empty it, and fails unless all were handled. */
export async function fillAndEmpty(fixture: Fixture, bytes: number): Promise<void> {
  const redis = await fixture.servers.single({ ...SMALL, appendonly: 'yes' });
  const { bull, receiver, reports, scope, worker } = await openQueue(fixture, redis);
  // The letters are there too, and fit: that of an event to which no retry will come.
  const client = await fixture.connect({ port: redis.port });
  const deadLetters = createRedisDeadLetters(client, { scope });
  const handled = new Seen<string>();
  const receiving = receiver(
    book(({ id }) => handled.add(id)),
    { deadLetters },
  );
  const accepted: string[] = [];
  let refused = 0;
  while (refused === 0 && accepted.length < MOST_EVENTS) {
    const events = Array.from({ length: AT_ONCE }, () => eventOf(bytes));
    const answers = await Promise.all(events.map((event) => receiving.receive(deliveryOf(event))));
    expect(answers.filter(({ status }) => status !== 202 && status !== 503)).toEqual([]);
    accepted.push(...events.flatMap(({ id }, index) => (answers[index]?.status === 202 ? [id] : [])));
    refused += answers.filter(({ status }) => status === 503).length;
  }
  expect(accepted.length).toBeGreaterThan(10);
  expect(infoOf(redis, 'used_memory')).toBeLessThan(MAX_BYTES);
  const { error } = await reports.first(({ code }) => code === 'queue_unavailable');
  expect(error?.message).toMatch(/of its 8388608 bytes \(maxmemory\).* 0\.9 .*\(maxMemoryShare\)/);

  const old = { ...eventAt(Date.now() - HOUR_MS), note: 'x'.repeat(bytes) };
  expect(JSON.parse(String((await receiving.receive(deliveryOf(old))).body))).toEqual({
    outcome: 'parked',
    id: old.id,
  });
  expect(await letterOf(deadLetters, old.id)).toMatchObject({ reason: 'queue_unavailable' });

  worker(receiving, { concurrency: AT_ONCE });
  await handled.nth(accepted.length);
  await expect.poll(() => bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')).toBe(0);
  expect(handled.all.toSorted()).toEqual(accepted.toSorted());
  await expect.poll(async () => (await receiving.receive(deliveryOf(eventOf(bytes)))).status).toBe(202);
}
