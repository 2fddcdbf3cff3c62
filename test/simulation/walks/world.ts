import type { DeadLetter } from '../../../src/receiver/dead-letters/dead-letters.ts';
import { clock, MONOTONIC_START, WALL_START } from '../clock.ts';
import { watchSteps } from '../watch-steps.ts';
import type { Action, ActionSource } from './action.ts';
import type { Configuration } from './configuration.ts';
import { faults } from './faults.ts';
import { operations } from './operations.ts';
import { operators } from './operators.ts';
import type { PendingOperation } from './pending-operation.ts';
import { WalkProcess } from './process.ts';
import { WalkPromises } from './promises.ts';
import { QueueServer } from './queue-server.ts';
import { Random } from './random.ts';
import { service } from './service.ts';
import type { KeyClaim, SentClaim, SimulatedEvent } from './simulated-event.ts';
import { WalkStore } from './store.ts';
import { time } from './time.ts';
import { workers } from './workers.ts';

const sources: readonly ActionSource[] = [service, operations, workers, time, operators, faults];

const NAMES = ['A', 'B', 'C'];

/** Several processes, a service, a store, letters and a queue, in a world that does nothing by itself. */
export class WalkWorld {
  readonly configuration: Configuration;
  /** Draws what the configuration leaves open. */
  readonly random: Random;
  readonly store: WalkStore;
  readonly queue: QueueServer;
  readonly letters: Map<string, DeadLetter> = new Map();
  readonly events: SimulatedEvent[] = [];
  /** Operations of processes that have died, on their way. */
  readonly orphans: PendingOperation[] = [];
  /** By their tokens. */
  readonly claims: Map<string, SentClaim> = new Map();
  /** The claims of concurrency keys, by their tokens. */
  readonly keyClaims: Map<string, KeyClaim> = new Map();
  readonly promises: WalkPromises;
  /** Also those that have died. */
  readonly processes: WalkProcess[] = [];
  /** The ids of concurrency keys that the store has forgotten. */
  readonly forgottenKeys: Set<string> = new Set();
  faultCount = 0;
  /** Counts the actions: many happen at one time. */
  stepCount = 0;
  /** The clock of a process was set back. */
  hasWrongClock = false;

  constructor(configuration: Configuration, seed: number) {
    this.configuration = configuration;
    this.random = new Random(seed);
    clock.reset(() => this.random.next());
    this.promises = new WalkPromises(this);
    watchSteps((step) => this.promises.break('a run takes only the steps of its diagram', step));
    this.store = new WalkStore(this);
    this.queue = new QueueServer(this);
    for (const name of NAMES.slice(0, configuration.processes)) this.start(name);
  }

  get hasQueue(): boolean {
    return this.configuration.handlers.some(({ isQueued }) => isQueued);
  }

  start(name: string): void {
    this.processes.push(new WalkProcess(name, this));
  }

  get running(): WalkProcess[] {
    return this.processes.filter(({ state }) => state === 'running');
  }

  eventOf(id: string): SimulatedEvent | undefined {
    return this.events.find((event) => event.id === id);
  }

  /** When the event was created, by a wall clock that is right. */
  wallTimeOf({ createdAt }: SimulatedEvent): number {
    return WALL_START + createdAt - MONOTONIC_START;
  }

  actions(): Action[] {
    return sources.flatMap((source) => source(this));
  }

  /** Lets something happen, and the processes go on until they wait again. */
  async perform({ act }: Pick<Action, 'act'>): Promise<void> {
    this.stepCount += 1;
    await act();
    await clock.settle();
    this.queue.promote();
  }
}
