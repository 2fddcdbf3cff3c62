import { COST_NAMES, type Costs, sumOf } from './costs.ts';

/** What a run of tests may cost. */
export interface Budget extends Costs {
  /** Files that start programs. */
  readonly files: number;
}

/** The costs of a file. */
export interface FileCosts extends Costs {
  readonly path: string;
}

/**
 * What `npm test` cost when its programs were parted, plus a tenth. A test that goes into it takes another's
 * place.
 */
export const BUDGET: Budget = { files: 28, starts: 138, packs: 1, compiles: 0, installs: 2, waitedMs: 440 };

/** A message that names what is over the budget, and the files that cost the most of it. */
export function overBudget(files: readonly FileCosts[], budget: Budget = BUDGET): string | undefined {
  const withPrograms = files.map((file) => ({ ...file, files: Number(file.starts > 0) }));
  const spent = { ...sumOf(files), files: withPrograms.filter((file) => file.files > 0).length };
  const names = ['files', ...COST_NAMES] as const;
  const lines = names
    .filter((name) => spent[name] > budget[name])
    .map((name) => {
      const dearest = withPrograms.toSorted((one, other) => other[name] - one[name]).slice(0, 5);
      const list = dearest.filter((file) => file[name] > 0).map((file) => `    ${file[name]} ${file.path}`);
      return [`  ${name}: ${spent[name]} of ${budget[name]}`, ...(name === 'files' ? [] : list)].join('\n');
    });
  if (lines.length === 0) return undefined;
  return [
    'The tests of `npm test` cost more than their budget, test/support/costs/budget.ts:',
    ...lines,
    'Move what not everybody needs into a *.program.test.ts, which `npm run test:programs` runs.',
  ].join('\n');
}
