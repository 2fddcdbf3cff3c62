import type { World } from './world.ts';

/** A `step` or `tick` happens sooner or later; a `fault` or an `option` may never happen. */
export type Kind = 'step' | 'tick' | 'fault' | 'option';

/** Something that can happen now. */
export interface Action {
  readonly kind: Kind;
  readonly name: string;
  readonly act: () => void;
}

/** Lists some of what can happen now. */
export type ActionSource = (world: World) => Action[];

/** Nothing happens any more, unless a fault does, or somebody chooses to. */
export function isAtRest(actions: readonly Action[]): boolean {
  return actions.every(({ kind }) => kind === 'fault' || kind === 'option');
}
