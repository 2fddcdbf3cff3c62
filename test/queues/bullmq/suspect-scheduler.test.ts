import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { SuspectTurns } from '../../../src/queues/bullmq/suspect-turns.ts';
import { CONCURRENCY, simulateWorker, useFakeTurns } from './simulated-worker.ts';

describe('a worker that has suspects and ordinary jobs', () => {
  beforeEach(useFakeTurns);
  afterEach(() => void vi.useRealTimers());

  // test/queues/bullmq/suspect-turns.storm.test.ts has more.
  test.each([1, 2, 3])('keeps them apart, keeps groups small, and ends them all (seed %i)', simulateWorker);

  function open() {
    const source = { pause: vi.fn<() => void>(), resume: vi.fn<() => void>() };
    return { source, turns: new SuspectTurns(source, CONCURRENCY) };
  }

  test('lets ordinary jobs begin again when one of them takes long, and suspects when it has ended', async () => {
    const { source, turns } = open();
    expect(turns.tryEnter()).toBe(true);
    const place = turns.enterGroup(5);
    expect(turns.tryEnter()).toBe(false);
    expect(source.pause).toHaveBeenCalledOnce();
    await vi.advanceTimersByTimeAsync(4_999);
    expect(turns.tryEnter()).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(source.resume).toHaveBeenCalledOnce();
    expect(turns.tryEnter()).toBe(true);
    // As long as the suspects had it; then these wait twice as long.
    await vi.advanceTimersByTimeAsync(5_000);
    expect(turns.tryEnter()).toBe(false);
    await vi.advanceTimersByTimeAsync(9_999);
    expect(turns.tryEnter()).toBe(false);
    turns.leave();
    turns.leave();
    expect(await place.size).toBe(1);
  });

  test('gives ordinary jobs a turn after a group, which ends early if there are none', async () => {
    const { turns } = open();
    const first = turns.enterGroup(1);
    const second = turns.enterGroup(1);
    const third = turns.enterGroup(1);
    await vi.advanceTimersByTimeAsync(100);
    expect(await first.size).toBe(1);
    expect(turns.tryEnter()).toBe(false);
    await vi.advanceTimersByTimeAsync(3_000);
    first.leave();
    expect(turns.tryEnter()).toBe(true);
    // With the moment in which the group came together.
    await vi.advanceTimersByTimeAsync(3_099);
    expect(turns.tryEnter()).toBe(true);
    await vi.advanceTimersByTimeAsync(1);
    expect(turns.tryEnter()).toBe(false);
    turns.leave();
    turns.leave();
    expect(await second.size).toBe(1);
    await vi.advanceTimersByTimeAsync(3_000);
    second.leave();
    await vi.advanceTimersByTimeAsync(100);
    expect(await third.size).toBe(1);
  });

  test('sends back what waits when it closes, and suspects that are more than half of its places', async () => {
    const { source, turns } = open();
    turns.tryEnter();
    const places = Array.from({ length: 6 }, () => turns.enterGroup(5));
    expect(await places[5]?.size).toBe('front');
    expect(source.pause).toHaveBeenCalledOnce();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await turns.enterGroup(5).size).toBe('later');
    turns.close();
    expect(await Promise.all(places.map(({ size }) => size))).toEqual(Array(6).fill('front'));
    expect(await turns.enterGroup(5).size).toBe('front');
  });

  test('goes on if a suspect does not want to wait any longer', async () => {
    const { source, turns } = open();
    turns.tryEnter();
    const place = turns.enterGroup(5);
    expect(turns.tryEnter()).toBe(false);
    place.leave();
    expect(source.resume).toHaveBeenCalledOnce();
    expect(turns.tryEnter()).toBe(true);
  });
});
