import { choicesOf, chosen, execute, type Reached } from './explore.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { Scope } from './scope.ts';

/** Of each state that is audited, this many ways are kept. */
const MOST_WAYS = 4;

/** Two ways to one fingerprint that do not go on alike: the fingerprint leaves something out. */
export interface Difference {
  readonly ways: readonly [readonly number[], readonly number[]];
  /** The actions that do not lead both ways to the same state. */
  readonly actions: readonly string[];
}

/** Compares how different ways to one fingerprint go on. */
export class Audit {
  readonly #everyNth: number;
  readonly #ways = new Map<number, Reached[]>();

  /** Audits one state of `everyNth`. */
  constructor(everyNth: number) {
    this.#everyNth = everyNth;
  }

  note(fingerprint: number, reached: Reached): void {
    if (fingerprint % this.#everyNth !== 0) return;
    const ways = this.#ways.get(fingerprint);
    if (ways === undefined) this.#ways.set(fingerprint, [reached]);
    else if (ways.length < MOST_WAYS) ways.push(reached);
  }

  async compare(scope: Scope): Promise<{ pairs: number; differences: Difference[] }> {
    let pairs = 0;
    const differences: Difference[] = [];
    for (const [first, ...others] of this.#ways.values()) {
      if (first === undefined || others.length === 0) continue;
      const way = choicesOf(first);
      const expected = await successorsOf(scope, way);
      for (const other of others.map(choicesOf)) {
        pairs += 1;
        const found = await successorsOf(scope, other);
        const actions = [...differing(expected, found), ...differing(found, expected)];
        if (actions.length > 0) differences.push({ ways: [way, other], actions });
      }
    }
    return { pairs, differences };
  }
}

/** The name of each action with the state that it leads to. */
async function successorsOf(scope: Scope, way: readonly number[]): Promise<string[]> {
  const successors: string[] = [];
  const count = (await execute(scope, way)).actions().length;
  for (let choice = 0; choice < count; choice += 1) {
    const world = await execute(scope, way);
    const action = chosen(world, choice);
    await world.perform(action);
    successors.push(`${action.name}: ${fingerprintOf(world)} ${world.promises.broken ?? ''}`);
  }
  return successors;
}

function differing(some: readonly string[], others: readonly string[]): string[] {
  return some.filter((one) => !others.includes(one));
}
