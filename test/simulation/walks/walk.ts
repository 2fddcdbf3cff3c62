import { clock, MONOTONIC_START } from '../clock.ts';
import { type Action, kinds, optional } from './action.ts';
import type { Configuration } from './configuration.ts';
import { configurationOf } from './profiles.ts';
import type { Broken } from './promises.ts';
import { Random } from './random.ts';
import { bringToRest } from './rest.ts';
import { WalkWorld } from './world.ts';

/** The end of a walk. */
export interface Walk {
  readonly seed: number;
  readonly configuration: Configuration;
  /** The names of the actions, up to where the world is brought to rest. */
  readonly names: readonly string[];
  /** All actions. */
  readonly steps: number;
  readonly broken: Broken | undefined;
}

/** Lines of a story. */
export type Tell = (line: string) => void;

/** Walks at random. The same seed gives the same walk. */
export async function walk(profile: string, seed: number): Promise<Walk> {
  const random = new Random(seed);
  const configuration = configurationOf(profile, random);
  const world = new WalkWorld(configuration, seed);
  const names: string[] = [];
  while (names.length < configuration.mostSteps && world.promises.broken === undefined) {
    const action = choose(world, random);
    if (action === undefined) break;
    names.push(action.name);
    await world.perform(action);
  }
  return end(world, seed, names, () => {});
}

/** Walks by the names of actions, and leaves out those that cannot happen. */
export async function repeat(
  { configuration, seed }: Pick<Walk, 'configuration' | 'seed'>,
  names: readonly string[],
  tell: Tell = () => {},
): Promise<Walk> {
  const world = new WalkWorld(configuration, seed);
  const performed: string[] = [];
  for (const name of names) {
    if (world.promises.broken !== undefined) break;
    const action = world.actions().find((possible) => possible.name === name);
    if (action === undefined) continue;
    performed.push(name);
    tell(line(name));
    await world.perform(action);
  }
  return end(world, seed, performed, tell);
}

async function end(world: WalkWorld, seed: number, names: readonly string[], tell: Tell): Promise<Walk> {
  let steps = names.length;
  if (world.promises.broken === undefined) {
    tell(`${' '.repeat(9)}(no further faults)`);
    await bringToRest(world, (name) => {
      steps += 1;
      tell(line(name));
    });
  }
  const { configuration, promises } = world;
  return { seed, configuration, names, steps, broken: promises.broken };
}

function line(name: string): string {
  return `${String(Math.round(clock.now - MONOTONIC_START)).padStart(8)} ${name}`;
}

function choose(world: WalkWorld, random: Random): Action | undefined {
  const actions = world.actions();
  if (actions.every(({ kind }) => optional.has(kind))) return undefined;
  const { pace } = world.configuration;
  const weights = actions.map(({ kind }) => kinds[kind] * (pace[kind] ?? 1));
  let left = random.next() * weights.reduce((sum, weight) => sum + weight, 0);
  const index = weights.findIndex((weight) => {
    left -= weight;
    return left < 0;
  });
  return actions.at(index);
}
