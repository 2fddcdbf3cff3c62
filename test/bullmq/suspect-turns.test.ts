import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type GroupSize, SuspectTurns } from '../../src/bullmq/suspect-turns.ts';

const CONCURRENCY = 10;
const JOBS = 300;

/** A job of a simulated worker. */
interface SimulatedJob {
  /** How many suspects may run with it; undefined for an ordinary job. */
  readonly limit: number | undefined;
  readonly durationMs: number;
}

/** Numbers from 0 to 1, the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('a worker that has suspects and ordinary jobs', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test.each(Array.from({ length: 20 }, (_, index) => index + 1))(
    'keeps them apart, keeps groups small, and ends them all (seed %i)',
    async (seed) => {
      const random = randomOf(seed);
      const queue: SimulatedJob[] = Array.from({ length: JOBS }, () => ({
        limit: random() < 0.3 ? 1 + Math.floor(random() * 5) : undefined,
        durationMs: Math.floor(random() ** 4 * 20_000),
      }));
      let isPaused = false;
      const source = {
        pause: () => {
          isPaused = true;
        },
        resume: () => {
          isPaused = false;
        },
      };
      const turns = new SuspectTurns(source, CONCURRENCY);
      const running = new Set<SimulatedJob>();
      let held = 0;
      let ended = 0;
      const work = async (job: SimulatedJob): Promise<void> => {
        running.add(job);
        const suspects = [...running].flatMap(({ limit }) => limit ?? []);
        expect([0, running.size]).toContain(suspects.length);
        for (const limit of suspects) expect(suspects.length).toBeLessThanOrEqual(limit);
        await new Promise((resolve) => setTimeout(resolve, job.durationMs));
        running.delete(job);
        ended += 1;
      };
      const take = async (job: SimulatedJob): Promise<void> => {
        if (job.limit === undefined) {
          if (!turns.tryEnter()) return void queue.unshift(job);
          await work(job);
          return turns.leave();
        }
        const place = turns.enterGroup(job.limit);
        const size: GroupSize = await place.size;
        if (size === 'front') queue.unshift(job);
        else if (size === 'later') queue.push(job);
        else await work(job);
        return place.leave();
      };
      for (let ticks = 0; ended < JOBS; ticks += 1) {
        // At most 100 ms each: 5 hours for what takes less than one hour.
        expect(ticks).toBeLessThan(180_000);
        const job = isPaused || held === CONCURRENCY ? undefined : queue.shift();
        if (job === undefined) {
          await vi.advanceTimersByTimeAsync(100);
          continue;
        }
        held += 1;
        void take(job).finally(() => (held -= 1));
        await vi.advanceTimersByTimeAsync(1);
      }
      await vi.advanceTimersByTimeAsync(0);
      expect([isPaused, running.size, turns.tryEnter()]).toEqual([false, 0, true]);
    },
  );

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
