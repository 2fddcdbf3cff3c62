import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';
import { buildSimulation } from './build.ts';
import { mistakes } from './mistakes.ts';
import { scopes } from './scope.ts';

/** The numbers that `main.ts` prints of a scope. */
interface Found {
  readonly states: number;
  readonly isWhole: boolean;
  readonly stories: readonly { readonly promise: string; readonly story: readonly string[] }[];
  readonly audited: { readonly pairs: number; readonly differences: number };
}

/** Runs the program in a process of its own, because it replaces the clock and the timers. */
function run(program: string, ...options: readonly string[]): Promise<Found> {
  const args = ['--input-type=module', '-', ...options];
  return new Promise((resolve, reject) => {
    // The exit code is 1 if a promise is broken.
    const child = execFile(process.execPath, args, (error, stdout) => {
      if (stdout === '') reject(error);
      else resolve(JSON.parse(stdout));
    });
    child.stdin?.end(program);
  });
}

/** These scopes are visited whole. */
const small: readonly string[] = [
  'one delivery, whatever fails once',
  'one delivery, whatever fails twice but a standstill',
  'a parked letter that is replayed and dropped',
  'one accept, whatever fails twice but a standstill',
];

/** The others take a night: `npm run simulate -- --explore`. Here they are visited up to so many states. */
const MOST_STATES = '40000';

const timeout = 300_000;
const page = readFileSync(join(packageRoot, 'test', 'simulation', 'README.md'), 'utf8');

/** The row of a scope on the page: a round number of states, and whether these are all. */
function shownOf(scope: string): { readonly states: number; readonly isWhole: boolean } {
  const [, count = '', all] =
    new RegExp(`^\\| ${scope} \\| ([\\d,]+) \\| (yes|no) \\|$`, 'm').exec(page) ?? [];
  return { states: Number(count.replaceAll(',', '')), isWhole: all === 'yes' };
}

describe('the receivers keep their promises', () => {
  test.each(Object.keys(scopes))('%s', { timeout }, async (scope) => {
    const isSmall = small.includes(scope);
    const bound = isSmall ? [] : ['--states', MOST_STATES];
    const found = await run(await buildSimulation(), scope, ...bound);
    process.stdout.write(`the receivers, ${scope}: ${JSON.stringify(found)}\n`);
    const { audited, isWhole, states, stories } = found;
    expect(stories).toEqual([]);
    expect(audited).toMatchObject({ differences: 0 });
    expect(isWhole).toBe(isSmall);
    const shown = shownOf(scope);
    expect(shown.isWhole).toBe(isWhole);
    expect(states).toBeGreaterThanOrEqual(shown.states);
    expect(states).toBeLessThan(2 * shown.states);
  });
});

describe('the exploration finds', () => {
  test.each(mistakes)('$name', { timeout }, async (mistake) => {
    const { promise, scope } = mistake;
    const options = ['--states', MOST_STATES, '--until', promise];
    const { stories } = await run(await buildSimulation(mistake), scope, ...options);
    expect(stories.map((one) => one.promise)).toContain(promise);
  });
});
