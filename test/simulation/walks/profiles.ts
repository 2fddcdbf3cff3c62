import { type Kind, kinds } from './action.ts';
import type { Configuration, Fault, HandlerOptions, KeyField, Times } from './configuration.ts';
import type { Random } from './random.ts';

/** The defaults of posthorn and the interface, and shorter times in proportion. */
const defaultTimes: Times = {
  leaseMs: 20_000,
  commandTimeoutMs: 2_000,
  deadlineMs: 25_000,
  maxRunMs: 240_000,
  retryScheduleMs: [60_000, 300_000, 900_000],
  serviceTimeoutMs: 30_000,
};
const shortTimes: Times = {
  leaseMs: 3_000,
  commandTimeoutMs: 1_000,
  deadlineMs: 5_000,
  maxRunMs: 20_000,
  retryScheduleMs: [12_000, 60_000, 180_000],
  serviceTimeoutMs: 6_000,
};
/** Its only retry may come while the first attempt runs. */
const oneRetry: Times = { ...shortTimes, maxRunMs: 20_000, retryScheduleMs: [12_000] };

const inline = { isQueued: false };
const queued = { isQueued: true };
const handlerLists: readonly (readonly HandlerOptions[])[] = [
  [{ name: undefined, ...inline }],
  [{ name: 'book', ...inline }],
  [
    { name: 'book', ...inline },
    { name: 'mail', ...inline },
  ],
  [
    { name: 'book', ...inline },
    { name: undefined, ...inline },
    { name: 'mail', ...inline },
  ],
];
const queuedLists: readonly (readonly HandlerOptions[])[] = [
  [{ name: 'book', ...queued }],
  [
    { name: 'mail', ...inline },
    { name: 'book', ...queued },
  ],
  [
    { name: 'mail', ...inline },
    { name: 'book', ...queued },
    { name: 'ledger', ...queued },
  ],
];

const allFaults: readonly Fault[] = [
  ...(['crash', 'standstill', 'lost reply', 'late reply', 'failed operation', 'late claim'] as const),
  ...(['letter', 'queue', 'forgetting', 'clock'] as const),
];

function drawPace(random: Random): Configuration['pace'] {
  const pace: Partial<Record<Kind, number>> = {};
  for (const kind of Object.keys(kinds)) if (isKind(kind)) pace[kind] = random.pick([0.05, 0.3, 1, 1, 1, 3]);
  return pace;
}

function isKind(name: string): name is Kind {
  return Object.hasOwn(kinds, name);
}

/** The fields of two handlers of an event may differ: then two events may have their keys crossed. */
const keyFields: readonly KeyField[] = ['account', 'account', 'owner'];

/** Gives handlers that have a name a concurrency key, and events one of few keys. */
function withKeys(random: Random, configuration: Configuration): Configuration {
  const values = random.pick([['x'], ['x', 'y']]);
  return {
    ...configuration,
    handlers: configuration.handlers.map((handler) => {
      const hasKey = handler.name !== undefined && random.chance(0.75);
      return hasKey ? { ...handler, keyedBy: random.pick(keyFields) } : handler;
    }),
    keys: Array.from({ length: configuration.events }, () => ({
      account: random.pick(values),
      owner: random.pick(values),
    })),
  };
}

/** Draws a configuration in which anything can be, but concurrency keys. */
function any(random: Random): Configuration {
  const hasQueue = random.chance(0.3);
  return {
    processes: random.integer(1, 3),
    events: random.integer(1, 3),
    times: random.pick([defaultTimes, shortTimes, shortTimes, oneRetry]),
    handlers: random.pick(hasQueue ? queuedLists : handlerLists),
    keys: [],
    poison: random.pick([0, 0, 0.5, 1]),
    onStoreFailure: random.chance(0.2) ? 'process' : 'reject',
    store: random.pick(['timed', 'timed', 'refusing', 'plain']),
    hasDeadLetters: random.chance(0.9),
    hasSchema: random.chance(0.2),
    maxRunning: random.chance(0.2) ? random.integer(1, 2) : undefined,
    hasSmallMemory: random.chance(0.1),
    jobAttempts: random.integer(1, 3),
    faults: allFaults.filter(() => random.chance(0.4)),
    mostFaults: random.integer(0, 4),
    mayDuplicate: random.chance(0.6),
    mayReplay: random.chance(0.5),
    mayDrop: random.chance(0.3),
    mayAccept: random.chance(0.3),
    mayRerun: random.chance(0.3),
    mayClose: random.chance(0.2),
    mostSteps: random.integer(20, 400),
    pace: drawPace(random),
  };
}

/**
 * Accepts and reruns weaken other promises. Some profiles do without them, so that these hold in full there.
 */
const withoutCalls = { mayAccept: false, mayRerun: false };

/** The profiles: what a walk's world is drawn from, by name. */
export const profiles: Readonly<Record<string, (random: Random) => Configuration>> = {
  any,
  calm: (random) => ({ ...any(random), ...withoutCalls, faults: [], mostFaults: 0, mayClose: false }),
  'one fault': (random) => ({ ...any(random), faults: [random.pick(allFaults)], mostFaults: 1 }),
  handlers: (random) => ({ ...any(random), handlers: random.pick(handlerLists.slice(2)) }),
  queue: (random) => ({ ...any(random), handlers: random.pick(queuedLists) }),
  process: (random) => ({ ...any(random), onStoreFailure: 'process' }),
  crowd: (random) => ({
    ...any(random),
    events: 4,
    maxRunning: random.integer(1, 3),
    hasSmallMemory: random.chance(0.5),
  }),
  keys: (random) => ({
    ...any(random),
    ...withoutCalls,
    events: random.integer(2, 4),
    handlers: random.pick(random.chance(0.3) ? queuedLists : handlerLists.slice(1)),
    poison: random.pick([0, 0, 0.5]),
    maxRunning: random.chance(0.4) ? random.integer(1, 2) : undefined,
    // A key is at stake in a few moments of a walk only: faults come often, and standstills last.
    faults: random.chance(0.5) ? allFaults.filter(() => random.chance(0.4)) : [random.pick(allFaults)],
    pace: { ...drawPace(random), fault: random.pick([1, 5, 20]), thaw: random.pick([0.05, 0.3, 1]) },
  }),
  standstills: (random) => ({
    ...any(random),
    ...withoutCalls,
    events: random.integer(2, 4),
    handlers: random.pick(handlerLists.slice(1)),
    poison: 0,
    maxRunning: random.integer(1, 2),
    faults: ['standstill'],
    mostFaults: 4,
    pace: { ...drawPace(random), fault: random.pick([1, 5, 20]), thaw: random.pick([0.05, 0.3, 1]) },
  }),
  'late claims': (random) => ({
    ...any(random),
    store: random.pick(['refusing', 'plain']),
    faults: ['late claim', random.pick(allFaults)],
    mostFaults: random.integer(1, 3),
    pace: { ...drawPace(random), fault: random.pick([1, 5]) },
  }),
  accepts: (random) => ({
    ...any(random),
    handlers: random.pick(random.chance(0.4) ? queuedLists : handlerLists),
    poison: random.pick([0, 0.5]),
    mayAccept: true,
    pace: { ...drawPace(random), accept: random.pick([1, 3, 10]) },
  }),
  reruns: (random) => ({
    ...any(random),
    handlers: random.pick(random.chance(0.3) ? queuedLists : handlerLists.slice(1)),
    poison: 0,
    mayRerun: true,
    pace: { ...drawPace(random), rerun: random.pick([1, 3, 10]) },
  }),
  letters: (random) => ({
    ...any(random),
    handlers: random.pick(handlerLists),
    poison: 0.5,
    hasDeadLetters: true,
    mayReplay: true,
    mayDrop: true,
  }),
};

/** The configuration of a walk. */
export function configurationOf(profile: string, random: Random): Configuration {
  const draw = profiles[profile];
  if (draw === undefined) throw new RangeError(`the profile is one of: ${Object.keys(profiles).join(', ')}`);
  const drawn = draw(random);
  return random.chance(profile === 'keys' || profile === 'standstills' ? 1 : 0.25)
    ? withKeys(random, drawn)
    : drawn;
}
