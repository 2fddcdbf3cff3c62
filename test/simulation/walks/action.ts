import type { WalkWorld } from './world.ts';

/** How often an action is chosen, compared with the others, by its kind. */
export const kinds = {
  /** Handlers end. */
  success: 5,
  failure: 2.5,
  permanentFailure: 0.5,
  /** A timer is due, and time passes to the next moment, or half of the way. */
  timer: 10,
  time: 6,
  halfTime: 1.5,
  /** A store, letters or a queue answer; they perform an operation whose answer is still on its way. */
  answer: 10,
  arrival: 1.5,
  lateAnswer: 1.5,
  /** Events happen, and the service sends them; once more although it need not. */
  event: 5,
  delivery: 10,
  duplicate: 1,
  /** Workers take jobs. */
  job: 10,
  /** A process is started again, goes on after a standstill, ends when it has closed. */
  start: 3,
  thaw: 3,
  exit: 10,
  /**
   * People replay and drop letters, accept events that they have fetched, rerun handlers, and close
   * processes.
   */
  replay: 1,
  drop: 1,
  accept: 1,
  rerun: 1,
  close: 0.15,
  fault: 0.4,
} as const;

/** The kind of action. */
export type Kind = keyof typeof kinds;

/** These may never happen: a world in which nothing else can happen is quiet. */
export const optional: ReadonlySet<Kind> = new Set<Kind>([
  'duplicate',
  'replay',
  'drop',
  'accept',
  'rerun',
  'close',
  'fault',
]);

/** Something that can happen now. */
export interface Action {
  readonly kind: Kind;
  /** Unique among the actions that can happen now: a walk is repeated by the names of its actions. */
  readonly name: string;
  readonly act: () => void | Promise<void>;
}

/** Lists some of what can happen now. */
export type ActionSource = (world: WalkWorld) => Action[];
