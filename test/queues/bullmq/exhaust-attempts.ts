import { expect } from 'vitest';
import { readAll } from '../../support/read-all.ts';
import { Seen } from '../../support/seen.ts';
import { book, enqueue, type openQueueAt } from './queue-fixture.ts';
import type { QueueServer } from './queue-server.ts';

type Opened = Pick<
  Awaited<ReturnType<typeof openQueueAt>>,
  'bull' | 'promote' | 'receiver' | 'scope' | 'worker'
>;

/** Has a handler fail at all ten attempts of a job; the last one leaves a dead letter on the server. */
export async function exhaustAttempts(
  server: Pick<QueueServer, 'openDeadLetters'>,
  { bull, promote, receiver, scope, worker }: Opened,
) {
  const deadLetters = await server.openDeadLetters(scope);
  const seen = new Seen<{ attempt: number; final: boolean; isStored: boolean }>();
  const running = receiver(
    book(async ({ id }, { attempt, final }) => {
      seen.add({ attempt, final, isStored: (await deadLetters.get(id))?.runningUntil !== undefined });
      throw new Error('poison');
    }),
    { deadLetters },
  );
  worker(running);
  const event = await enqueue(running);
  for (let attempt = 1; attempt <= 10; attempt += 1) {
    const final = attempt === 10;
    expect(await seen.nth(attempt)).toEqual({ attempt, final, isStored: final });
    if (final) break;
    await expect.poll(() => bull.getDelayedCount()).toBe(1);
    const [job] = await bull.getDelayed();
    expect(job).toMatchObject({ attemptsMade: attempt, failedReason: expect.stringContaining('poison') });
    expect(job?.stacktrace).toHaveLength(Math.min(attempt, 3));
    expect(job?.delay).toBeGreaterThanOrEqual(5_000 * 2 ** (attempt - 1));
    await promote();
  }
  await expect.poll(() => bull.getJobCountByTypes('active', 'delayed', 'waiting', 'failed')).toBe(0);

  expect(await readAll(deadLetters.list())).toMatchObject([
    { id: event.id, reason: 'handler_failed', attempts: 10 },
  ]);
  return { deadLetters, event, running, seen };
}
