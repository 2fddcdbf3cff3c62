import { createMemoryStore, type Report } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { shutGate } from '../../support/gate.ts';
import { letterOf } from '../../support/letter-of.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { usePrintedErrors } from '../../support/printed-errors.ts';
import { Seen } from '../../support/seen.ts';
import { MINUTE_MS, stepClocked } from '../../support/step-clock.ts';
import { failJobs, noBooking, waitingLetters } from './failed-jobs.ts';
import { book, openQueueAt } from './queue-fixture.ts';
import { queueServers } from './queue-servers.ts';

const TWO_DAYS_MS = 2 * 24 * 60 * MINUTE_MS;

describe.each(queueServers)('two workers that park the same failed jobs in $name', ({ useServer }) => {
  const server = useServer();
  const { printed } = usePrintedErrors();

  /** Failed jobs; a worker that is frozen while it writes the letter of one; another that is not. */
  async function openFrozenWorker(count = 2) {
    const opened = await openQueueAt(server);
    const { letters, receiver, worker } = opened;
    const { clock, store } = stepClocked();
    const ids = await failJobs(opened, count, { store });
    const gate = shutGate();
    const writing = new Seen<string>();
    const frozen = waitingLetters(letters, (letter) => {
      writing.add(letter.id);
      return gate.pass();
    });
    const frozenWorker = worker(receiver(noBooking, { store, deadLetters: frozen }));
    const held = await writing.nth(1);
    const other = ids.find((id) => id !== held) ?? '';
    const handled = new Seen<string>();
    const shared = createMapDeadLetters(letters);
    const awake = receiver(
      book(({ id }) => handled.add(id)),
      { store, deadLetters: shared },
    );
    const replay = async (id: string) => awake.replay(await letterOf(shared, id));
    return { ...opened, awake, clock, frozenWorker, gate, handled, held, other, replay };
  }

  test.each([
    ['at once', 0],
    ['after the retention', TWO_DAYS_MS],
  ])(
    'one frozen after it has read them, the other parks one, which is replayed: it stays handled, %s',
    async (_when, passedMs) => {
      const { awake, bull, clock, gate, handled, held, letters, other, replay, worker } =
        await openFrozenWorker();
      worker(awake);
      await expect.poll(() => letters.has(other)).toBe(true);
      const failed = async () => (await bull.getFailed()).map(({ data }) => data.id);
      await expect.poll(failed).not.toContain(other);
      expect(await replay(other)).toMatchObject({ outcome: 'processed' });
      clock.step(passedMs);
      gate.open();
      await expect.poll(() => bull.getFailedCount()).toBe(0);
      expect([...letters.keys()]).toEqual([held]);
      expect(handled.all).toEqual([other]);
    },
  );

  test('one frozen while it writes, until its lease has run out: the letter of the handled event is removed again', async () => {
    const { awake, bull, clock, frozenWorker, gate, handled, held, letters, replay, reports, worker } =
      await openFrozenWorker();
    clock.step(MINUTE_MS * 5);
    worker(awake);
    await expect.poll(() => letters.size).toBe(2);
    await expect.poll(() => bull.getFailedCount()).toBe(0);
    expect(await replay(held)).toMatchObject({ outcome: 'processed' });
    gate.open();
    await frozenWorker.close();
    expect(letters.has(held)).toBe(false);
    expect(handled.all).toEqual([held]);
    expect(reports.all.at(-1)).toMatchObject({ outcome: 'duplicate', event: { id: held } });
    // The other worker has removed its job, which is not a failure of this sweep.
    expect(printed()).toEqual([]);
  });

  test('one frozen after it has read them, somebody retries the next: it stays in the queue', async () => {
    const { bull, gate, held, letters } = await openFrozenWorker(3);
    await bull.pause();
    const order = (await bull.getFailed()).toReversed();
    const index = order.findIndex(({ data }) => data.id === held);
    const [next, last] = [1, 2].map((distance) => order[(index + distance) % order.length]);
    await next?.retry();
    gate.open();
    await expect.poll(() => letters.has(last?.data.id)).toBe(true);
    expect([...letters.keys()]).toEqual([held, last?.data.id]);
    expect(await next?.getState()).toBe('waiting');
  });

  test('leave a job alone whose event is being handled, and remove it then', async () => {
    const opened = await openQueueAt(server);
    const { bull, letters, receiver, reports, worker } = opened;
    const store = createMemoryStore();
    const [id = ''] = await failJobs(opened, 1, { store });
    await store.claim({ id, token: 'of another process', leaseMs: 60_000, retentionMs: TWO_DAYS_MS });
    const first = worker(receiver(noBooking, { store }));
    await reports.first(({ code }) => code === 'event_running');
    expect([await bull.getFailedCount(), letters.size]).toEqual([1, 0]);
    await first.close();
    await store.complete({ id, token: 'of another process', retentionMs: TWO_DAYS_MS });
    worker(receiver(noBooking, { store }));
    await expect.poll(() => bull.getFailedCount()).toBe(0);
    expect(letters.size).toBe(0);
  });

  test('make letters of all others if one letter is always refused', async () => {
    const opened = await openQueueAt(server);
    const { bull, letters, receiver, reports, worker } = opened;
    const [refused = '', ...others] = (await failJobs(opened, 5)).toReversed();
    const deadLetters = waitingLetters(letters, async ({ id }) => {
      if (id === refused) throw new Error('too large');
    });
    const running = receiver(noBooking, { deadLetters });
    const isRefusal = ({ warnings }: Report): boolean => warnings.some((text) => text.includes('too large'));
    // A sweep ends at the refusal, and each begins at another job.
    for (let sweeps = 1; letters.size < others.length; sweeps += 1) {
      const sweeping = worker(running);
      await reports.nth(sweeps, isRefusal);
      await sweeping.close();
    }
    expect([...letters.keys()].toSorted()).toEqual(others.toSorted());
    expect(await bull.getFailed()).toMatchObject([{ data: { id: refused } }]);
  });
});
