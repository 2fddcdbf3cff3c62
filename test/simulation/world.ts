import type { DeadLetter } from '../../src/receiver/dead-letters/dead-letters.ts';
import type { Store } from '../../src/receiver/dedupe/store.ts';
import { createMemoryStore } from '../../src/stores/memory/memory.ts';
import { accepts } from './accepts.ts';
import { type Action, type ActionSource, isAtRest } from './action.ts';
import { answers, urgentAnswers } from './answers.ts';
import { clock } from './clock.ts';
import { deliveries, type SentDelivery } from './deliveries.ts';
import { EVENT } from './event.ts';
import { faults, frozenProcesses, lateOperations } from './faults.ts';
import { type Call, lastReplay, letterActions, park } from './letters.ts';
import type { Operation } from './operations.ts';
import { SimulatedProcess } from './process.ts';
import { Promises } from './promises.ts';
import { handle, reruns } from './reruns.ts';
import type { Fault, ProcessName, Scope } from './scope.ts';
import { StoreRecord } from './store-record.ts';
import { time } from './time.ts';
import { watchLeases } from './watch-leases.ts';
import { watchSteps } from './watch-steps.ts';

/** Pauses of random length are as long as they can be. */
const longest = (): number => 1;

const sources: readonly ActionSource[] = [
  deliveries,
  answers,
  time,
  letterActions,
  accepts,
  reruns,
  lateOperations,
  frozenProcesses,
  faults,
];

/** Several processes with the sources as they ship, in a world that does nothing by itself. */
export class World {
  readonly scope: Scope;
  /** Shared by all processes, as a server is. */
  readonly memory: Store;
  /** The record of each id in the store. */
  readonly records: Map<string, StoreRecord> = new Map();
  readonly letters: Map<string, DeadLetter> = new Map();
  readonly deliveries: SentDelivery[] = [];
  /** The faults that have happened. */
  readonly faults: Set<Fault> = new Set();
  faultCount = 0;
  /** Operations whose answers nobody waits for, and which may still arrive. */
  readonly late: Operation[] = [];
  /** For stories: the operation that ended last. */
  lastEnded: Operation | undefined;
  /** The replays, drops, accepts and reruns that have begun. */
  readonly calls: Call[] = [];
  /** The tokens of all claims, with the process of each. */
  readonly tokens: Map<string, ProcessName> = new Map();
  readonly promises: Promises;
  readonly processes: readonly SimulatedProcess[];

  constructor(scope: Scope) {
    this.scope = scope;
    clock.reset(longest);
    this.memory = createMemoryStore({ maxEntries: 5 });
    this.promises = new Promises(this);
    watchLeases();
    watchSteps(() => this.promises.break('a run takes only the steps of its diagram'));
    this.processes = scope.processes.map((name) => new SimulatedProcess(name, this));
    if (scope.isParked) park(this);
    if (scope.isHandled) handle(this);
  }

  /** The record of the event. */
  get record(): StoreRecord {
    return this.recordOf(EVENT.id);
  }

  recordOf(id: string): StoreRecord {
    const record = this.records.get(id) ?? new StoreRecord();
    this.records.set(id, record);
    return record;
  }

  /** Until when the store has promised an id to the claim of this token. */
  leaseOf(token: string): number {
    return Math.max(...[...this.records.values()].map((record) => record.leaseOf(token)));
  }

  /** Everything that can happen now. */
  actions(): Action[] {
    const urgent = urgentAnswers(this);
    if (urgent.length > 0) return [...urgent, ...faults(this)];
    const actions = sources.flatMap((source) => source(this));
    return isAtRest(actions) ? [...actions, ...lastReplay(this)] : actions;
  }

  /** Lets something happen, and the processes go on until they wait again. */
  async perform({ name, act }: Action): Promise<void> {
    clock.action = name;
    act();
    await clock.settle();
    this.promises.check();
  }
}
