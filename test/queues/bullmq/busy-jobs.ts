import type { EventData, Receiver, ReceiverOptions, WebhookEvent } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { expect } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { bookByResource, openQueueAt, pollPromoting } from './queue-fixture.ts';
import type { QueueServer } from './queue-server.ts';

const registerHeld = (receiver: Receiver, held: HeldHandler): unknown =>
  bookByResource(held.handle)(receiver);

/** An event of the resource `id`. */
export const eventOf = (id: string): WebhookEvent<'transfer.succeeded', EventData> =>
  createEvent('transfer.succeeded', { id });

interface BusyOptions extends Pick<ReceiverOptions, 'deadLetters'> {
  readonly concurrency?: number;
  /** Registers the handlers; by default only the one that has keys. */
  readonly register?: (receiver: Receiver, held: HeldHandler) => unknown;
}

/** A worker of which a job of the key "a" lasts until the test ends it, and another job of that key. */
export async function openBusy(
  server: QueueServer,
  { concurrency = 10, register = registerHeld, ...options }: BusyOptions = {},
) {
  const opened = await openQueueAt(server);
  const { bull, promote, receiver, reports, scope, worker } = opened;
  const held = new HeldHandler();
  const running = receiver((fresh) => register(fresh, held), options);
  worker(running, { concurrency });
  const first = eventOf('a');
  await running.receive(deliveryOf(first));
  const { succeed } = await held.calls.nth(1);
  const event = eventOf('a');
  const jobId = `event-${event.id}`;
  /** Adds the other job; `attemptsMade` of its attempts have failed. */
  const add = async (attemptsMade = 0): Promise<void> => {
    await bull.pause();
    await running.receive(deliveryOf(event));
    await server.setCounts(scope, jobId, { attempts: attemptsMade });
    await bull.resume();
  };
  /** Resolves with the job once it was put back for the nth time. */
  const putBack = async (count: number) => {
    await reports.nth(count, ({ code }) => code === 'key_busy');
    await expect.poll(() => bull.getDelayedCount()).toBe(1);
    return (await bull.getDelayed())[0];
  };
  /** Promotes the job until its handler has begun. */
  const run = (): Promise<void> => pollPromoting(promote, () => held.calls.all.length).toBe(2);
  const isEmpty = (): Promise<number> => bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed');
  return { ...opened, add, event, held, isEmpty, jobId, promote, putBack, run, running, succeed };
}
