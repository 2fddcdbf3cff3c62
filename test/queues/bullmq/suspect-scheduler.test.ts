import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { SuspectScheduler } from '../../../src/queues/bullmq/suspect-scheduler.ts';
import { CONCURRENCY, simulateWorker, useFakeTurns } from './simulated-worker.ts';

describe('a worker that has suspects and ordinary jobs', () => {
  beforeEach(useFakeTurns);
  afterEach(() => void vi.useRealTimers());

  // test/queues/bullmq/suspect-scheduler.storm.test.ts has more.
  test.each([1, 2, 3])('keeps them apart, keeps groups small, and ends them all (seed %i)', simulateWorker);

  function open() {
    const source = { pause: vi.fn<() => void>(), resume: vi.fn<() => void>() };
    return { source, scheduler: new SuspectScheduler(source, CONCURRENCY) };
  }

  test('lets ordinary jobs begin again when one of them takes long, and suspects when it has ended', async () => {
    const { source, scheduler } = open();
    expect(scheduler.tryEnter()).toBe(true);
    const suspect = scheduler.enterGroup(5);
    expect(scheduler.tryEnter()).toBe(false);
    expect(source.pause).toHaveBeenCalledOnce();
    await vi.advanceTimersByTimeAsync(4_999);
    expect(scheduler.tryEnter()).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(source.resume).toHaveBeenCalledOnce();
    expect(scheduler.tryEnter()).toBe(true);
    // As long as the suspects had it; then these wait twice as long.
    await vi.advanceTimersByTimeAsync(5_000);
    expect(scheduler.tryEnter()).toBe(false);
    await vi.advanceTimersByTimeAsync(9_999);
    expect(scheduler.tryEnter()).toBe(false);
    scheduler.leave();
    scheduler.leave();
    expect(await suspect.admission).toBe(1);
  });

  test('gives ordinary jobs a turn after a group, which ends early if there are none', async () => {
    const { scheduler } = open();
    const first = scheduler.enterGroup(1);
    const second = scheduler.enterGroup(1);
    const third = scheduler.enterGroup(1);
    await vi.advanceTimersByTimeAsync(100);
    expect(await first.admission).toBe(1);
    expect(scheduler.tryEnter()).toBe(false);
    await vi.advanceTimersByTimeAsync(3_000);
    first.leave();
    expect(scheduler.tryEnter()).toBe(true);
    // With the moment in which the group came together.
    await vi.advanceTimersByTimeAsync(3_099);
    expect(scheduler.tryEnter()).toBe(true);
    await vi.advanceTimersByTimeAsync(1);
    expect(scheduler.tryEnter()).toBe(false);
    scheduler.leave();
    scheduler.leave();
    expect(await second.admission).toBe(1);
    await vi.advanceTimersByTimeAsync(3_000);
    second.leave();
    await vi.advanceTimersByTimeAsync(100);
    expect(await third.admission).toBe(1);
  });

  test('sends back what waits when it closes, and suspects that are more than half of its places', async () => {
    const { source, scheduler } = open();
    scheduler.tryEnter();
    const suspects = Array.from({ length: 6 }, () => scheduler.enterGroup(5));
    expect(await suspects[5]?.admission).toBe('front');
    expect(source.pause).toHaveBeenCalledOnce();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await scheduler.enterGroup(5).admission).toBe('later');
    scheduler.close();
    expect(await Promise.all(suspects.map(({ admission }) => admission))).toEqual(Array(6).fill('front'));
    expect(await scheduler.enterGroup(5).admission).toBe('front');
  });

  test('goes on if a suspect does not want to wait any longer', async () => {
    const { source, scheduler } = open();
    scheduler.tryEnter();
    const suspect = scheduler.enterGroup(5);
    expect(scheduler.tryEnter()).toBe(false);
    suspect.leave();
    expect(source.resume).toHaveBeenCalledOnce();
    expect(scheduler.tryEnter()).toBe(true);
  });
});
