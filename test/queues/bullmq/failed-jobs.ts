import { type DeadLetter, type DeadLetters, PermanentError, type Receiver } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { expect } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { throwing } from '../../support/throwing.ts';
import { book, type openQueueAt } from './queue-fixture.ts';

type Opened = Awaited<ReturnType<typeof openQueueAt>>;

/** Fails the jobs of so many events for good, without dead letters. Resolves with the ids of the events. */
export async function failJobs(
  { bull, receiver, worker }: Pick<Opened, 'bull' | 'receiver' | 'worker'>,
  count: number,
  options: Parameters<Opened['receiver']>[1] = {},
): Promise<string[]> {
  const refusing = book(throwing(new PermanentError('no such account')));
  const failing = receiver(refusing, { ...options, deadLetters: undefined });
  const events = Array.from({ length: count }, () => createEvent('transfer.succeeded'));
  for (const event of events) await failing.receive(deliveryOf(event));
  const failed = worker(failing, { concurrency: 50 });
  await expect.poll(() => bull.getFailedCount()).toBe(count);
  await failed.close();
  return events.map(({ id }) => id);
}

/** The letters of one process, in a map that several processes share. Each `put` waits for its turn. */
export function waitingLetters(
  letters: Map<string, DeadLetter>,
  beforePut: (letter: DeadLetter) => Promise<unknown>,
): DeadLetters {
  const shared = createMapDeadLetters(letters);
  return {
    ...shared,
    put: async (letter) => {
      await beforePut(letter);
      await shared.put(letter);
    },
  };
}

/** Does nothing in a worker: no job of these tests comes to a handler again. */
export const noBooking: (receiver: Receiver) => unknown = book(() => {});
