import { type Action, isAtRest } from './action.ts';
import type { Audit } from './audit.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { Scope } from './scope.ts';
import { World } from './world.ts';

/** A state, as a way to it: code cannot be copied, so each way is executed from its start. */
export interface Reached {
  readonly from: Reached | undefined;
  /** The index of the action that led here. */
  readonly choice: number;
  readonly depth: number;
  /** The number of actions that can happen here. */
  readonly count: number;
}

/** A promise that was broken, and the way there, as the indexes of its actions. */
export interface Violation {
  readonly promise: string;
  readonly choices: readonly number[];
}

export interface Exploration {
  readonly states: number;
  readonly transitions: number;
  /** Actions that were performed, with those that only led to a state again. */
  readonly steps: number;
  /** The length of the longest way. */
  readonly depth: number;
  /** False if the exploration ended before all states were visited. */
  readonly isWhole: boolean;
  /** The first violation of each promise. */
  readonly violations: readonly Violation[];
}

/** When an exploration ends before all states are visited. */
export interface Limits {
  readonly mostStates: number;
  /** Of processor time. */
  readonly mostSeconds: number;
  /** Once this promise is broken, if it is given. */
  readonly until?: string | undefined;
}

/** The processor time of this process so far: other programs of the machine do not count. */
export function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Visits every state that can be reached, or the nearest. States with one fingerprint are the same state. */
export function explore(scope: Scope, limits: Limits, audit?: Audit): Promise<Exploration> {
  return new Explorer(scope, limits, audit).run();
}

class Explorer {
  readonly #scope: Scope;
  readonly #limits: Limits;
  readonly #audit: Audit | undefined;
  readonly #seen = new Set<number>();
  /** States whose actions were not all performed; the first one of each is performed on arrival. */
  #open: Reached[] = [];
  #transitions = 0;
  #steps = 0;
  #depth = 0;
  readonly #violations = new Map<string, Violation>();

  constructor(scope: Scope, limits: Limits, audit: Audit | undefined) {
    this.#scope = scope;
    this.#limits = limits;
    this.#audit = audit;
  }

  async run(): Promise<Exploration> {
    await this.#goOn(new World(this.#scope), undefined, 0);
    while (this.#open.length > 0) {
      if (this.#isEnough) break;
      const level = this.#open;
      this.#open = [];
      for (const reached of level) {
        if (this.#isEnough) this.#open.push(reached);
        else await this.#visit(reached);
      }
    }
    return {
      states: this.#seen.size,
      transitions: this.#transitions,
      steps: this.#steps,
      depth: this.#depth,
      isWhole: this.#open.length === 0,
      violations: [...this.#violations.values()],
    };
  }

  get #isEnough(): boolean {
    const { mostStates, mostSeconds, until = '' } = this.#limits;
    if (this.#seen.size >= mostStates || this.#violations.has(until)) return true;
    // To read it in each state takes a twenty-fifth of the time.
    return Number.isFinite(mostSeconds) && processorSeconds() >= mostSeconds;
  }

  /** Performs each action of a state but the first. */
  async #visit(reached: Reached): Promise<void> {
    const choices = choicesOf(reached);
    for (let choice = 1; choice < reached.count; choice += 1) {
      const world = await execute(this.#scope, [...choices, choice]);
      this.#steps += choices.length + 1;
      await this.#goOn(world, reached, choice);
    }
  }

  /** Performs the first action of each state, until it arrives at a state that it has seen. */
  async #goOn(world: World, before: Reached | undefined, chosen: number): Promise<void> {
    let from = before;
    let choice = chosen;
    for (;;) {
      this.#transitions += 1;
      const actions = world.actions();
      const depth = from === undefined ? 0 : from.depth + 1;
      const reached: Reached = { from, choice, depth, count: actions.length };
      if (isAtRest(actions)) world.promises.checkAtRest();
      const { broken } = world.promises;
      if (broken !== undefined) {
        if (!this.#violations.has(broken))
          this.#violations.set(broken, { promise: broken, choices: choicesOf(reached) });
        return;
      }
      const key = fingerprintOf(world);
      this.#audit?.note(key, reached);
      if (this.#seen.has(key)) return;
      this.#seen.add(key);
      this.#depth = Math.max(this.#depth, depth);
      const [first] = actions;
      if (first === undefined) return;
      if (actions.length > 1) this.#open.push(reached);
      this.#steps += 1;
      await world.perform(first);
      from = reached;
      choice = 0;
    }
  }
}

/** The way to a state, as the indexes of its actions. */
export function choicesOf(reached: Reached): number[] {
  const choices: number[] = [];
  for (let at = reached; at.from !== undefined; at = at.from) choices.push(at.choice);
  return choices.reverse();
}

/** Executes a way from its start. */
export async function execute(scope: Scope, choices: readonly number[]): Promise<World> {
  const world = new World(scope);
  for (const choice of choices) await world.perform(chosen(world, choice));
  return world;
}

/** The action of a world with this index. */
export function chosen(world: World, choice: number): Action {
  const action = world.actions()[choice];
  if (action === undefined) throw new Error(`the world has no action ${choice}: it was not executed alike`);
  return action;
}
