import { describe, expect, test } from 'vitest';
import { overBudget } from './budget.ts';
import { costsOfStart, NO_COSTS } from './costs.ts';

test.each([
  { command: 'npm pack --json --ignore-scripts', costs: { packs: 1 } },
  { command: 'npx tsc -p tsconfig.json', costs: { compiles: 1 } },
  { command: '/usr/bin/node tools/build.js --if-changed', costs: { compiles: 1 } },
  { command: '/usr/bin/npm install posthorn-0.3.0.tgz --no-audit', costs: { installs: 1 } },
  { command: 'pnpm add posthorn', costs: { installs: 1 } },
  { command: 'npm ci', costs: { installs: 1 } },
  { command: '/usr/bin/node dist/src/cli/bin.js demo', costs: {} },
])('$command is counted by what it does', ({ command, costs }) => {
  expect(costsOfStart(command)).toEqual({ ...NO_COSTS, starts: 1, ...costs });
});

describe('a budget', () => {
  const budget = { files: 2, starts: 9, packs: 0, compiles: 0, installs: 0, waitedMs: 500 };
  const file = (path: string, starts: number, waitedMs = 0) => ({ ...NO_COSTS, path, starts, waitedMs });

  test('is kept by what is not more', () => {
    expect(overBudget([file('a', 4), file('b', 5), file('quick', 0, 500)], budget)).toBeUndefined();
  });

  test('that is passed is named, with the five files that cost the most of it', () => {
    const files = [4, 1, 6, 2, 5, 3].map((starts) => file(`${starts}.test.ts`, starts));
    const [, ...lines] = overBudget([...files, file('quick', 0, 501)], budget)?.split('\n') ?? [];
    expect(lines.slice(0, -1)).toEqual([
      '  files: 6 of 2',
      '  starts: 21 of 9',
      ...[6, 5, 4, 3, 2].map((starts) => `    ${starts} ${starts}.test.ts`),
      '  waitedMs: 501 of 500',
      '    501 quick',
    ]);
  });
});
