import { setTimeout as sleep } from 'node:timers/promises';
import type { Report } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { useRedis } from '../../stores/redis/fixture.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { shutGate } from '../../support/gate.ts';
import { Seen } from '../../support/seen.ts';
import { bookByResource, openQueue } from './queue-fixture.ts';

const HOT_JOBS = 1_000;
const OTHER_JOBS = 100;
const WORKERS = 2;
/** The time that the handler of a hot job takes. */
const WORK_MS = 5;
/** Half of the first pause of a job that is put back. */
const LEAST_PAUSE_MS = 2_500;

/** A report of a job that was put back because its key was busy. */
interface PutBack {
  readonly id: string;
  readonly at: number;
}

describe('1,000 jobs of one key', () => {
  const fixture = useRedis();

  test('keep none of 100 others back, run one at a time, and are each put back once in 2.5 seconds at most', async () => {
    const { bull, letters, receiver, worker } = await openQueue(fixture);
    const handled = new Seen<string>();
    const attempts = new Set<number>();
    const gate = shutGate();
    let running = 0;
    let mostRunning = 0;
    const register = bookByResource(async ({ id, data }, { attempt }) => {
      attempts.add(attempt);
      if (data.id === 'hot') {
        running += 1;
        mostRunning = Math.max(mostRunning, running);
        await gate.pass();
        await sleep(WORK_MS);
        running -= 1;
      }
      handled.add(id);
    });
    const hot = Array.from({ length: HOT_JOBS }, () => createEvent('transfer.succeeded', { id: 'hot' }));
    const others = Array.from({ length: OTHER_JOBS }, () => createEvent('transfer.succeeded'));
    const accepting = receiver(register);
    for (const event of [...hot, ...others])
      expect(await accepting.receive(deliveryOf(event))).toMatchObject({ status: 202 });
    const putBacks: PutBack[] = [];
    const note = ({ code, event }: Report): void => {
      if (code === 'key_busy') putBacks.push({ id: event?.id ?? '', at: Date.now() });
    };
    for (let count = 0; count < WORKERS; count += 1) worker(receiver(register).observe(note));
    // All others are handled while the first hot one still has the key, although they are last in the queue.
    await handled.nth(OTHER_JOBS);
    expect(handled.all.toSorted()).toEqual(others.map(({ id }) => id).toSorted());
    gate.open();
    await handled.nth(HOT_JOBS + OTHER_JOBS);
    await expect.poll(() => bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')).toBe(0);
    expect(handled.all.toSorted()).toEqual([...hot, ...others].map(({ id }) => id).toSorted());
    expect(mostRunning).toBe(1);
    expect([...attempts]).toEqual([1]);
    expect(letters.size).toBe(0);
    expect(shortestPause(putBacks)).toBeGreaterThanOrEqual(LEAST_PAUSE_MS);
    const rate = highestRate(putBacks);
    process.stdout.write(`jobs of one key: ${putBacks.length} put-backs, ${rate} a second at most\n`);
    // Within the pause of a job each of the others can be put back once.
    expect(rate).toBeLessThanOrEqual(HOT_JOBS / (LEAST_PAUSE_MS / 1_000));
  });
});

/** The most put-backs a second, in any time as long as the shortest pause. */
function highestRate(putBacks: readonly PutBack[]): number {
  const times = putBacks.map(({ at }) => at);
  const counts = times.map((from) => times.filter((at) => at >= from && at < from + LEAST_PAUSE_MS).length);
  return Math.max(0, ...counts) / (LEAST_PAUSE_MS / 1_000);
}

/** The shortest time between two reports of one job. */
function shortestPause(putBacks: readonly PutBack[]): number {
  const latest = new Map<string, number>();
  let shortest = Number.POSITIVE_INFINITY;
  for (const { id, at } of putBacks) {
    shortest = Math.min(shortest, at - (latest.get(id) ?? Number.NEGATIVE_INFINITY));
    latest.set(id, at);
  }
  return shortest;
}
