import { setImmediate } from 'node:timers/promises';
import { createReceiver, type DeadLetter, type Receiver, type ReceiverOptions, type Report } from 'posthorn';
import { type BullWorker, type BullWorkerOptions, createBullQueue, createBullWorker } from 'posthorn/bullmq';
import { createEvent } from 'posthorn/testing';
import { expect, onTestFinished } from 'vitest';
import type { Fixture } from '../../stores/redis/fixture.ts';
import { closedAtEnd } from '../../support/closed-at-end.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { ampleDeadlines } from '../../support/limits.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { Seen } from '../../support/seen.ts';
import { KEY } from '../../support/served.ts';
import type { BullWorker as BareWorker, BullQueue, QueueServer } from './queue-server.ts';
import { queueKey, redisQueueServer } from './redis-queue-server.ts';

let scopes = 0;

/** BullMQ's own count of stalls decides nothing. PostgreSQL takes no larger one. */
const NO_STALL_LIMIT = 2 ** 31 - 1;
/** The count at which workers of posthorn 0.2.0 had BullMQ fail a job. */
export const EARLIER_STALL_LIMIT = 2;

interface StallOptions {
  /** At which the queue fails a job by itself. */
  readonly maxStalledCount?: number;
  readonly ids?: readonly string[];
}

/** The receivers and workers of one test, in this process, on a Redis; by default in a scope of their own. */
export async function openQueue(
  fixture: Fixture,
  redis: { readonly port: number } = fixture.redis,
  scope: string = nextScope(),
) {
  const server = redisQueueServer(fixture, redis);
  const opened = await openQueueAt(server, scope);
  return {
    ...opened,
    connection: server.options.connection,
    keyOf: (name: string): string => queueKey(scope, name),
  };
}

/** The receivers and workers of one test, in this process; by default in a scope of their own. */
export async function openQueueAt(server: QueueServer, scope: string = nextScope()) {
  const letters = new Map<string, DeadLetter>();
  const deadLetters = createMapDeadLetters(letters);
  const store = await server.openStore(scope);
  const queue = closedAtEnd(createBullQueue({ ...server.options, scope }));
  /** The queue as BullMQ sees it. */
  const bull = server.openBull(scope);
  bull.on('error', () => {});
  onTestFinished(() => disconnect(bull));
  const reports = new Seen<Report>();

  const receiver = (
    register: (receiver: Receiver) => unknown,
    options: Partial<ReceiverOptions<Record<never, never>>> = {},
  ): Receiver => {
    const shared = { signingKey: KEY, queue, store, deadLetters, ...ampleDeadlines };
    const created = createReceiver({ ...shared, ...options }).observe(reports.add);
    register(created);
    return closedAtEnd(created);
  };
  const worker = (runner: Receiver, options: Pick<BullWorkerOptions, 'concurrency'> = {}): BullWorker =>
    closedAtEnd(createBullWorker(runner, { ...server.options, scope, ...options }));
  /** A worker that hangs with each job, as one that is frozen, and notes nothing. */
  const openFrozenWorker = (concurrency: number): BareWorker => {
    const frozen = server.openBullWorker(scope, () => new Promise(() => {}), {
      concurrency,
      skipStalledCheck: true,
    });
    frozen.on('error', () => {});
    onTestFinished(() => disconnect(frozen));
    return frozen;
  };
  /** Has the queue look for stalled jobs: it marks active ones, and moves marked ones that have no lock. */
  const openStalledCheck = async (maxStalledCount = NO_STALL_LIMIT): Promise<() => Promise<void>> => {
    const checker = server.openBullWorker(scope, undefined, { maxStalledCount, stalledInterval: 1 });
    checker.on('error', () => {});
    onTestFinished(() => disconnect(checker));
    await checker.waitUntilReady();
    return async () => {
      await server.allowStalledCheck?.(scope);
      await checker.getBackend().moveStalledJobsToWait();
      await nextMillisecond();
    };
  };
  /**
   * Lets the locks of the active jobs run out, or of those with these ids, as if their workers had been
   * frozen for that long, and has the queue look for stalled jobs.
   */
  const stallActive = async ({ maxStalledCount, ids }: StallOptions = {}): Promise<void> => {
    const lookForStalled = await openStalledCheck(maxStalledCount);
    const loseLocks = async (jobIds: readonly string[]): Promise<void> => {
      for (const id of jobIds) await server.loseLock(scope, id);
    };
    // Another worker may have those of a dead one after the first look, and keeps them.
    if (ids !== undefined) await loseLocks(ids);
    for (let look = 0; look < 2; look += 1) {
      if (ids === undefined) await loseLocks((await bull.getActive()).flatMap(({ id }) => id ?? []));
      await lookForStalled();
    }
  };
  /** Lets delayed jobs come at once. */
  const promote = (): Promise<void> => server.promote(bull);
  return {
    bull,
    deadLetters,
    letters,
    openFrozenWorker,
    openStalledCheck,
    promote,
    queue,
    receiver,
    reports,
    scope,
    stallActive,
    worker,
  };
}

/** BullMQ leaves out a look for stalled jobs that comes within `stalledInterval`, here a millisecond. */
async function nextMillisecond(): Promise<void> {
  const now = Date.now();
  while (Date.now() === now) await setImmediate();
}

/** Does not wait for the end: a client of ioredis that was about to connect again never reports it. */
function disconnect(bull: Pick<BullQueue, 'disconnect'>): void {
  bull.disconnect().catch(() => {});
}

function nextScope(): string {
  scopes += 1;
  return `test-${scopes}`;
}

/** Polls what `look` gives, and lets delayed jobs come before each look. */
export function pollPromoting<T>(promote: () => Promise<void>, look: () => T | Promise<T>) {
  return expect.poll(async () => {
    await promote();
    return look();
  });
}

/** Gives a receiver a new event, which its queue takes. */
export async function enqueue(receiver: Pick<Receiver, 'receive'>) {
  const event = createEvent('transfer.succeeded');
  expect(await receiver.receive(deliveryOf(event))).toMatchObject({ status: 202 });
  return event;
}

/** The handler "book" of workers. */
export function book(handle: Parameters<Receiver['on']>[1] = () => {}) {
  return (receiver: Receiver): unknown => receiver.on('transfer.*', handle, { name: 'book', queue: true });
}

/** The handler "book" with the resource of an event as its concurrency key. */
export function bookByResource(handle: Parameters<Receiver['on']>[1] = () => {}) {
  return (receiver: Receiver): unknown =>
    receiver.on('transfer.*', handle, {
      name: 'book',
      queue: true,
      concurrencyKey: ({ data }) => data.id,
    });
}
