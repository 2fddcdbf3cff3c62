import { clock } from '../clock.ts';
import type { Action, ActionSource } from './action.ts';
import type { EventKeys } from './configuration.ts';
import type { WalkProcess } from './process.ts';
import { isSuccess, type SentDelivery, SimulatedEvent } from './simulated-event.ts';
import type { WalkWorld } from './world.ts';

const MOST_DUPLICATES = 2;
/** No handler has a concurrency key. */
const NO_KEYS: EventKeys = { account: '', owner: '' };

/**
 * Events happen, and the service sends them, again unless it gets a 2xx in time, and sometimes for no reason.
 */
export const service: ActionSource = (world) => {
  const { configuration, events } = world;
  giveUpLate(world);
  const fresh: Action[] =
    events.length < configuration.events
      ? [
          {
            kind: 'event',
            name: `evt_${events.length + 1} happens`,
            act: () => void happen(world),
          },
        ]
      : [];
  return [...fresh, ...events.flatMap((event) => deliveriesOf(world, event))];
};

export function happen(world: WalkWorld): void {
  clock.wallShiftMs = 0;
  const { configuration, events, random } = world;
  const keys = configuration.keys[events.length] ?? NO_KEYS;
  events.push(new SimulatedEvent(`evt_${events.length + 1}`, random.chance(configuration.poison), keys));
}

function deliveriesOf(world: WalkWorld, event: SimulatedEvent): Action[] {
  const targets = world.processes.filter(({ state }) => state !== 'dead');
  const dueAt = dueAtOf(world, event);
  if (dueAt !== undefined && dueAt <= clock.now)
    return targets.map((process) => ({
      kind: 'delivery',
      name: `the service sends ${event.id} to ${process.name}${nth(event.attempts.length + 1)}`,
      act: () => deliver(event, process, true),
    }));
  const { attempts, deliveries } = event;
  const mayRepeat =
    world.configuration.mayDuplicate &&
    attempts.length > 0 &&
    deliveries.length - attempts.length < MOST_DUPLICATES;
  if (!mayRepeat) return [];
  return targets.map((process) => ({
    kind: 'duplicate',
    name: `the service sends ${event.id} to ${process.name} once more (${deliveries.length - attempts.length + 1})`,
    act: () => deliver(event, process, false),
  }));
}

function nth(attempt: number): string {
  return attempt === 1 ? '' : `, attempt ${attempt}`;
}

/** When the service sends the event next; undefined if it does not. */
export function dueAtOf({ configuration }: WalkWorld, event: SimulatedEvent): number | undefined {
  const { attempts } = event;
  const last = attempts.at(-1);
  if (last === undefined) return event.createdAt;
  const delayMs = configuration.times.retryScheduleMs[attempts.length - 1];
  const hasFailed = last.isGivenUp || (last.status !== undefined && !isSuccess(last.status));
  if (delayMs === undefined || !hasFailed || event.isAccepted) return undefined;
  return last.sentAt + delayMs;
}

export function deliver(event: SimulatedEvent, process: WalkProcess, isAttempt: boolean): void {
  const { deliveries } = event;
  const delivery: SentDelivery = {
    name: `delivery ${deliveries.length + 1} of ${event.id}`,
    process,
    sentAt: clock.now,
    isAttempt,
    isLastByAge: false,
    receivedAt: undefined,
    status: undefined,
    isGivenUp: false,
  };
  deliveries.push(delivery);
  process.deliver(event, delivery);
}

/** The service waits no longer for an answer; that of a process that has died never comes. */
function giveUpLate({ configuration, events }: WalkWorld): void {
  for (const { deliveries } of events)
    for (const delivery of deliveries) {
      const isLate = clock.now >= delivery.sentAt + configuration.times.serviceTimeoutMs;
      const isOver = isLate || delivery.process.state === 'dead';
      if (delivery.status === undefined && isOver) delivery.isGivenUp = true;
    }
}

/** When the service does something next. */
export function nextOfService(world: WalkWorld): number[] {
  return world.events.flatMap((event) => {
    const dueAt = dueAtOf(world, event);
    const { serviceTimeoutMs } = world.configuration.times;
    const waiting = event.deliveries.filter(({ status, isGivenUp }) => status === undefined && !isGivenUp);
    return [
      ...(dueAt === undefined ? [] : [dueAt]),
      ...waiting.map(({ sentAt }) => sentAt + serviceTimeoutMs),
    ];
  });
}
