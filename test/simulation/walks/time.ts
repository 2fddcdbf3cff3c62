import { clock, type VirtualTimer } from '../clock.ts';
import type { Action, ActionSource } from './action.ts';
import { nextOfService } from './service.ts';
import type { WalkWorld } from './world.ts';

/** Timers are due, and time passes: up to the next moment that matters, or half of the way. */
export const time: ActionSource = (world) => {
  const due = timersDue(world);
  if (due.length > 0) return due.map((timer) => fire(world, timer));
  const at = nextMoment(world);
  const latest = latestMoment(world);
  const until = Math.min(at, latest);
  if (!Number.isFinite(until) || until <= clock.now) return [];
  const half = clock.now + (until - clock.now) / 2;
  return [
    { kind: 'time', name: 'time passes', act: () => passTo(world, until) },
    { kind: 'halfTime', name: 'some time passes', act: () => passTo(world, half) },
  ];
};

/** The next timer of each running process, if it is due. Intervals are called while time passes. */
function timersDue({ running }: WalkWorld): VirtualTimer[] {
  return running.flatMap(({ name }) => {
    const next = clock.nextTimeoutOf(name);
    return next !== undefined && next.dueAt <= clock.now ? [next] : [];
  });
}

function fire(world: WalkWorld, timer: VirtualTimer): Action {
  return {
    kind: 'timer',
    name: `a timer of ${timer.process} is due`,
    act: () => {
      const process = world.processes.find(({ name }) => name === timer.process);
      clock.clear(timer);
      process?.run(timer.callback);
    },
  };
}

/** The next moment at which something can happen. */
export function nextMoment(world: WalkWorld): number {
  const { events, queue, running, store } = world;
  const moments = [
    ...running.flatMap(({ name }) => clock.nextTimeoutOf(name)?.dueAt ?? []),
    ...nextOfService(world),
    ...[...queue.jobs.values()].map((job) => (job.state === 'delayed' ? job.delayedUntil : job.lockedUntil)),
    ...events.flatMap((event) =>
      [...store.recordsOf(event), ...store.rerunsOf(event)].map(({ leaseEndsAt }) => leaseEndsAt),
    ),
    ...store.keyIds.map((id) => store.recordOf(id).leaseEndsAt),
  ].filter((at) => at > clock.now);
  return Math.min(...moments, Number.POSITIVE_INFINITY);
}

/** Until then, time may pass before an operation that takes no longer than it may has to be performed. */
function latestMoment({ orphans, processes }: WalkWorld): number {
  const open = processes.flatMap(({ pending, state }) =>
    pending.filter(
      ({ fate, hasArrived }) =>
        fate === 'on time' && (state === 'running' || (state === 'frozen' && !hasArrived)),
    ),
  );
  const dueBy = [...open, ...orphans].map((operation) => operation.dueBy);
  // An answer that comes when its time is over may come before the timer or after it.
  return Math.min(...dueBy) - 1;
}

/** Lets time pass, and calls the intervals meanwhile, up to one after which a process has something to do. */
export async function passTo(world: WalkWorld, until: number): Promise<void> {
  for (;;) {
    const next = nextInterval(world, until);
    if (next?.intervalMs === undefined) break;
    clock.now = next.dueAt;
    next.dueAt += next.intervalMs;
    const process = world.processes.find(({ name }) => name === next.process);
    const before = process?.pending.length;
    process?.run(next.callback);
    await clock.settle();
    if (!clock.timers.includes(next) || process?.pending.length !== before) return;
  }
  clock.now = until;
}

function nextInterval({ running }: WalkWorld, until: number): VirtualTimer | undefined {
  let next: VirtualTimer | undefined;
  for (const timer of clock.timers) {
    if (timer.intervalMs === undefined || timer.dueAt > until) continue;
    if (!running.some(({ name }) => name === timer.process)) continue;
    if (next === undefined || timer.dueAt < next.dueAt) next = timer;
  }
  return next;
}
