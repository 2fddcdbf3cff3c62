import type { Action, ActionSource } from './action.ts';
import { clock, MONOTONIC_START, type VirtualTimer } from './clock.ts';
import { isOfLetter, type Operation } from './operations.ts';
import type { SimulatedProcess } from './process.ts';
import { times } from './scope.ts';
import type { World } from './world.ts';

/** How long one operation on a letter may take: `src/receiver/timing/deadline.ts`. */
const LETTER_MS = times.deadlineMs / 4;

/** From when on no retry follows: `src/receiver/dedupe/last-attempt.ts`. */
const LAST_FROM: number =
  Math.ceil((MONOTONIC_START + 0.9 * times.retryDelayMs) / times.gridMs) * times.gridMs;

/** Whether a delivery that is sent now is the last one, by the age of the event. */
export function isLastByAge(): boolean {
  return clock.now >= LAST_FROM;
}

/** Time passes to the next timer, unless an operation would take longer than it may. */
export const time: ActionSource = (world) => {
  const running = world.processes.filter(({ state }) => state === 'running');
  const next = running.flatMap(({ name }) => clock.nextTimeoutOf(name) ?? []);
  const dueAt = Math.min(...next.map(firesAt));
  const milestone = Math.min(...milestones(world));
  const limit = Math.min(...running.map(limitOf));
  if (milestone < dueAt) return milestone < limit ? [passTo(world, milestone)] : [];
  if (dueAt >= limit) return [];
  return next.filter((timer) => firesAt(timer) === dueAt).map((timer) => fire(world, timer, dueAt));
};

/** A timer may be late. */
export function firesAt({ dueAt }: VirtualTimer): number {
  return Math.max(clock.now, Math.ceil(dueAt / times.gridMs) * times.gridMs);
}

/** The times that matter though no timer is due. */
function milestones({ deliveries, processes, records, scope }: World): number[] {
  const isAgeing = deliveries.length < scope.deliveries && !scope.isParked;
  const thaws = processes
    .filter(({ state }) => state === 'frozen')
    .map(({ frozenAt }) => frozenAt + times.leaseMs);
  const ends = [...records.values()].map(({ leaseEndsAt }) => leaseEndsAt);
  return [...(isAgeing ? [LAST_FROM] : []), ...ends, ...thaws].filter((at) => at > clock.now);
}

/** The time at which an operation of the process would be late. */
function limitOf({ name, pending }: SimulatedProcess): number {
  const isLetterLost = pending.some(({ kind, isLost }) => isLost && isOfLetter(kind));
  // An interval measures an operation on a letter: `src/receiver/dead-letters/operation-queue.ts`.
  const intervals = clock.timers.filter((timer) => timer.process === name && timer.intervalMs !== undefined);
  return Math.min(
    ...pending.filter(({ isLost }) => !isLost).map((operation) => operation.sentAt + mostMs(operation)),
    ...(isLetterLost ? [] : intervals.map(({ startedAt }) => startedAt + LETTER_MS)),
  );
}

/** How long an operation takes at most, unless there is a fault. A letter is read and removed at once. */
function mostMs({ kind }: Operation): number {
  if (kind === 'handlers') return Number.POSITIVE_INFINITY;
  if (!isOfLetter(kind)) return times.commandTimeoutMs;
  return kind === 'put' ? LETTER_MS : 0;
}

function passTo(world: World, at: number): Action {
  return { kind: 'tick', name: 'time passes', act: () => void runIntervals(world, at) };
}

function fire(world: World, timer: VirtualTimer, at: number): Action {
  return {
    kind: 'tick',
    name: `a timer of ${timer.process} is due`,
    act: () => {
      if (!runIntervals(world, at)) return;
      clock.process = timer.process;
      clock.fire(timer);
    },
  };
}

/**
 * Lets time pass, and calls the intervals meanwhile. Returns false if one of them has ended itself: its
 * process goes on before more time passes.
 */
function runIntervals({ processes }: World, until: number): boolean {
  const running: string[] = processes.filter(({ state }) => state === 'running').map(({ name }) => name);
  for (;;) {
    const next = clock.timers
      .filter(
        ({ intervalMs, dueAt, process }) =>
          intervalMs !== undefined && dueAt <= until && running.includes(process),
      )
      .reduce<VirtualTimer | undefined>((a, b) => (a === undefined || b.dueAt < a.dueAt ? b : a), undefined);
    if (next?.intervalMs === undefined) break;
    clock.now = next.dueAt;
    clock.process = next.process;
    next.dueAt += next.intervalMs;
    next.callback();
    if (!clock.timers.includes(next)) return false;
  }
  clock.now = until;
  return true;
}
