import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { useRedis } from '../../stores/redis/fixture.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { Seen } from '../../support/seen.ts';
import { book, openQueue, pollPromoting } from './queue-fixture.ts';

const JOBS = 400;

describe('a worker that lacks the handler of a job', () => {
  const fixture = useRedis();

  test('takes no attempt from 400 jobs, beside one that has it', async () => {
    const { bull, letters, promote, receiver, worker } = await openQueue(fixture);
    const attempts = new Map<string, number>();
    const handled = new Seen<string>();
    const having = receiver(
      book(({ id }, { attempt }) => {
        attempts.set(id, attempt);
        handled.add(id);
      }),
    );
    const events = Array.from({ length: JOBS }, () => createEvent('transfer.succeeded'));
    for (const event of events) await having.receive(deliveryOf(event));
    const lacking = receiver((fresh) => fresh.on('dispute.*', () => {}));
    const lacked = new Seen<string>();
    lacking.observe(({ code, event }) => {
      if (code === 'handler_missing') lacked.add(event?.id ?? '');
    });
    // Alone at first, it takes all of them more often than a job has attempts.
    worker(lacking, { concurrency: 50 });
    for (let turns = 1; turns <= 11; turns += 1) {
      await lacked.nth(turns * JOBS);
      await expect.poll(() => bull.getDelayedCount()).toBe(JOBS);
      await promote();
    }
    worker(having, { concurrency: 10 });
    await pollPromoting(promote, () =>
      bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed'),
    ).toBe(0);
    expect(handled.all.toSorted()).toEqual(events.map(({ id }) => id).toSorted());
    expect([...new Set(attempts.values())]).toEqual([1]);
    expect(letters.size).toBe(0);
  });
});
