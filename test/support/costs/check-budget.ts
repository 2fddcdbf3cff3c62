import type { TestProject } from 'vitest/node';
import { type Budget, overBudget } from './budget.ts';
// Declares the costs of a file as a member of its `meta`.
import type {} from './counter.ts';

/** Ends the run with 1, after its report, if its tests cost more than they may. */
export default function setup({ vitest }: TestProject, budget?: Budget): () => void {
  return () => {
    const files = vitest.state.getTestModules().flatMap((module) => {
      const { costs } = module.meta();
      return costs === undefined ? [] : [{ ...costs, path: module.relativeModuleId }];
    });
    const message = overBudget(files, budget);
    if (message === undefined) return;
    process.stderr.write(`\n${message}\n`);
    process.exitCode = 1;
  };
}
