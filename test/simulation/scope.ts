export type ProcessName = 'A' | 'B' | 'C';

/** The kinds of faults. */
export type Fault = 'crash' | 'lost reply' | 'letter' | 'standstill';

const anyFault = ['crash', 'lost reply', 'letter', 'standstill'] as const;

/** Operations that are answered, or fail, before anything else happens. Others are answered in any order. */
export type AtOnce = readonly ('renew' | 'get' | 'remove')[];

/** A world to explore: its processes, and the events and faults that may happen in it. */
export interface Scope {
  readonly processes: readonly ProcessName[];
  /** How often the service sends the event. */
  readonly deliveries: number;
  /** How many faults may happen, and which. */
  readonly mostFaults: number;
  readonly faults: readonly Fault[];
  /** The number of accepts that the application may begin. */
  readonly accepts: number;
  /** The names of the runs in which the application may rerun the handler, in this order. */
  readonly reruns: readonly string[];
  /** Whether the letter of the event may be replayed, and whether it may be dropped, once. */
  readonly mayReplay: boolean;
  readonly mayDrop: boolean;
  /** Whether all deliveries are over, and the event is parked, when the world begins. */
  readonly isParked: boolean;
  /** True if the store has the event as handled when the world begins. */
  readonly isHandled: boolean;
  readonly atOnce: AtOnce;
  /**
   * Whether an operation on a letter that hangs may end after all. The fingerprint cannot tell what waits
   * behind it, so this is not explored exhaustively.
   */
  readonly mayHangingEnd: boolean;
}

/** Two processes that get a delivery and its duplicate or retry, without a fault. */
export const plain: Scope = {
  processes: ['A', 'B'],
  deliveries: 2,
  accepts: 0,
  reruns: [],
  mostFaults: 0,
  faults: [],
  mayReplay: false,
  mayDrop: false,
  isParked: false,
  isHandled: false,
  atOnce: ['renew', 'get', 'remove'],
  mayHangingEnd: false,
};

/** Two processes that may rerun the handler of an event. */
const ofHandled: Scope = { ...plain, deliveries: 0, isHandled: true };

/**
 * The settings of all receivers, in milliseconds, short but in proportion. Timers are due at multiples of
 * `gridMs`: a timer may be late, and the fewer times there are, the fewer states.
 */
export const times = {
  gridMs: 400,
  leaseMs: 1_200,
  commandTimeoutMs: 800,
  deadlineMs: 1_640,
  maxRunMs: 2_400,
  /** Of the only retry. Nine tenths of it are one step of the grid: from then on each attempt is the last. */
  retryDelayMs: 440,
} as const;

/** The scopes that are explored, by name. */
export const scopes = {
  'one delivery, whatever fails once': { ...plain, deliveries: 1, mostFaults: 1, faults: anyFault },
  'one delivery, whatever fails twice but a standstill': {
    ...plain,
    deliveries: 1,
    mostFaults: 2,
    faults: ['crash', 'lost reply', 'letter'],
  },
  'without a fault': plain,
  'without a fault, also if the letter is replayed': { ...plain, mayReplay: true },
  'without a fault, also if the letter is dropped': { ...plain, mayDrop: true },
  'a crash': { ...plain, mostFaults: 1, faults: ['crash'] },
  'a lost reply': { ...plain, mostFaults: 1, faults: ['lost reply'] },
  'a letter that fails or hangs': { ...plain, mostFaults: 1, faults: ['letter'] },
  'a standstill': { ...plain, mostFaults: 1, faults: ['standstill'], atOnce: ['get', 'remove'] },
  'a parked letter that is replayed and dropped': {
    ...plain,
    isParked: true,
    mayReplay: true,
    mayDrop: true,
    mostFaults: 1,
    faults: anyFault,
  },
  'one accept, whatever fails twice but a standstill': {
    ...plain,
    deliveries: 0,
    accepts: 1,
    mostFaults: 2,
    faults: ['crash', 'lost reply', 'letter'],
  },
  'an accept beside a delivery, whatever fails once': {
    ...plain,
    deliveries: 1,
    accepts: 1,
    mostFaults: 1,
    faults: anyFault,
  },
  'an accept that is repeated after crashes': {
    ...plain,
    processes: ['A', 'B', 'C'],
    deliveries: 0,
    accepts: 3,
    mostFaults: 2,
    faults: ['crash'],
  },
  'a parked letter that is replayed and accepted': {
    ...plain,
    isParked: true,
    accepts: 1,
    mayReplay: true,
    mostFaults: 1,
    faults: anyFault,
  },
  'a rerun that is repeated, whatever fails once': {
    ...ofHandled,
    reruns: ['fix', 'fix'],
    mostFaults: 1,
    faults: anyFault,
  },
  'two reruns of different names, whatever fails once': {
    ...ofHandled,
    reruns: ['fix', 'other fix'],
    mostFaults: 1,
    faults: anyFault,
    atOnce: ['get', 'remove'],
  },
  'a rerun beside a delivery of a handled event, whatever fails once': {
    ...ofHandled,
    deliveries: 1,
    reruns: ['fix'],
    mostFaults: 1,
    faults: anyFault,
  },
  'a rerun beside a delivery of an event that the store has forgotten': {
    ...plain,
    deliveries: 1,
    reruns: ['fix'],
    mostFaults: 1,
    faults: anyFault,
  },
} as const satisfies Record<string, Scope>;

export type ScopeName = keyof typeof scopes;

/** Whether there is a scope with this name. */
export function isScopeName(name: string): name is ScopeName {
  return Object.hasOwn(scopes, name);
}
