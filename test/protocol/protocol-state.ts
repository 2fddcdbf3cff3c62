import type { StoreRecord } from './store-model.ts';

export type Process = 'A' | 'B';

/** Each run is named after what started it, and its claim bears the same name as token. */
export type Token = 'first' | 'second' | 'replay';

/**
 * The second delivery is a duplicate or a retry of the first. It is final by age: the service sends no other
 * one after it.
 */
export interface Delivery {
  readonly name: 'first' | 'second';
  /** `lost`: its process died. */
  state: 'unsent' | 'waiting' | 'accepted' | 'refused' | 'lost';
  /** The run that it waits for. */
  run?: Token;
}

/** A run of the event in one process: `src/handling/run.ts`. */
export interface Run {
  readonly token: Token;
  readonly process: Process;
  step:
    | 'claiming'
    | 'waiting'
    | 'polling'
    | 'storing'
    | 'ready'
    | 'confirming'
    | 'running'
    | 'completing'
    | 'parking'
    | 'releasing';
  /** Ticks since the command was sent that the run waits for. */
  askedFor: number;
  /** Ticks since the command was sent that last gave the lease. */
  heldFor: number;
  /** What the store said last. */
  known: 'held' | 'lost' | 'completed';
  attempt: number;
  abandoned: number;
  final: boolean;
  /** The letter was stored by this run, or was there before it. */
  hasLetter: boolean;
  letterBegun: boolean;
  /** A question while waiting got no answer, and may have taken the id. */
  unsure: boolean;
  /** For the invariants: ticks for which the store has promised the id to this run. */
  promised: number;
  /** For the invariants: a completion was known before the lease was given. */
  ranLate: boolean;
}

/** A command for whose answer nobody waits any more. It may run at any time. */
export interface LateCommand {
  readonly operation:
    | 'claim'
    | 'renew'
    | 'complete'
    | 'completeAndRemove'
    | 'release'
    | 'releaseAndLookAgain'
    | 'reconcile';
  readonly token: Token;
  readonly process: Process;
}

/** A drop of the letter. */
export interface DropState {
  readonly step: 'possible' | 'claiming' | 'reading' | 'ready' | 'removing' | 'releasing' | 'ended';
  /** Ticks since the command was sent that last gave the lease. */
  readonly heldFor: number;
}

export interface State {
  store: StoreRecord;
  /** `lastAttempt` and `beside` are marked `runningUntil`; `over` is not. */
  letter: 'none' | 'lastAttempt' | 'beside' | 'over';
  readonly deliveries: [Delivery, Delivery];
  runs: Run[];
  /** Handlers that go on although their run was aborted. */
  deaf: { readonly token: Token; readonly process: Process }[];
  late: LateCommand[];
  /** The processes that know of a completion which the store has not taken yet. */
  completionPending: Process[];
  mayReplay: boolean;
  drop: DropState;
  /** How many more faults may happen. */
  faultsLeft: number;
  faults: { crash: boolean; timeout: boolean; completion: boolean; letter: boolean };
  /** For the invariants: handlers have succeeded. */
  handled: boolean;
  /** For the invariants: a process was told that the completion is recorded. */
  recorded: boolean;
  /** For the invariants: the event was given up. */
  dropped: boolean;
  /** A promise that the step to this state has broken. */
  broken?: string;
}

/** What may happen besides deliveries. */
export interface Scope {
  readonly faults: number;
  readonly mayReplay: boolean;
  readonly mayDrop: boolean;
  /** Both deliveries are over, and the event is parked. */
  readonly isParked?: boolean;
}

export function firstState({ faults, mayReplay, mayDrop, isParked = false }: Scope): State {
  const delivery = isParked ? 'accepted' : 'unsent';
  return {
    store: isParked ? { state: 'released', token: 'second', attempt: 2, abandoned: 0 } : { state: 'absent' },
    letter: isParked ? 'over' : 'none',
    deliveries: [
      { name: 'first', state: delivery },
      { name: 'second', state: delivery },
    ],
    runs: [],
    deaf: [],
    late: [],
    completionPending: [],
    mayReplay,
    drop: { step: mayDrop ? 'possible' : 'ended', heldFor: 0 },
    faultsLeft: faults,
    faults: { crash: false, timeout: false, completion: false, letter: false },
    handled: false,
    recorded: false,
    dropped: false,
  };
}

export function newRun(token: Token, process: Process): Run {
  return {
    token,
    process,
    step: 'claiming',
    askedFor: 0,
    heldFor: 0,
    known: 'held',
    attempt: 0,
    abandoned: 0,
    final: false,
    hasLetter: token === 'replay',
    letterBegun: false,
    unsure: false,
    promised: 0,
    ranLate: false,
  };
}

export function copyOf(state: State): State {
  const [first, second] = state.deliveries;
  return {
    ...state,
    deliveries: [{ ...first }, { ...second }],
    runs: state.runs.map((run) => ({ ...run })),
    deaf: [...state.deaf],
    late: [...state.late],
    completionPending: [...state.completionPending],
    faults: { ...state.faults },
  };
}

export function settle(delivery: Delivery, state: Delivery['state']): void {
  delivery.state = state;
  delete delivery.run;
}

export function deliveryOf(state: State, name: Delivery['name']): Delivery {
  return state.deliveries[name === 'first' ? 0 : 1];
}

export function runOf(state: State, token: Token | undefined): Run {
  const run = state.runs.find((one) => one.token === token);
  if (run === undefined) throw new Error(`the model asks for the run ${token}, which has ended`);
  return run;
}
