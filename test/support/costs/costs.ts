/** What tests ask of any machine, however fast it is. A time would tell of the machine as well. */
export interface Costs {
  /** Programs that tests start. */
  readonly starts: number;
  /** Starts that make a tarball of the package. */
  readonly packs: number;
  /** Starts that compile TypeScript. */
  readonly compiles: number;
  /** Starts that install packages. */
  readonly installs: number;
  /** The sum of all pauses of 100 ms or more. Shorter ones are polls, of which a slow machine makes more. */
  readonly waitedMs: number;
}

export const COST_NAMES = ['starts', 'packs', 'compiles', 'installs', 'waitedMs'] as const;

export const NO_COSTS: Costs = { starts: 0, packs: 0, compiles: 0, installs: 0, waitedMs: 0 };

/** The costs of starting a command. */
export function costsOfStart(command: string): Costs {
  return {
    ...NO_COSTS,
    starts: 1,
    packs: Number(/\b(?:npm|pnpm|yarn|bun) pack\b/.test(command)),
    compiles: Number(/\b(?:tsc|build\.js)\b/.test(command)),
    installs: Number(/\b(?:npm|pnpm|yarn|bun) (?:install|ci|i|add)\b/.test(command)),
  };
}

export function sumOf(all: readonly Costs[]): Costs {
  const sum = (name: keyof Costs): number => all.reduce((total, costs) => total + costs[name], 0);
  return {
    starts: sum('starts'),
    packs: sum('packs'),
    compiles: sum('compiles'),
    installs: sum('installs'),
    waitedMs: sum('waitedMs'),
  };
}
