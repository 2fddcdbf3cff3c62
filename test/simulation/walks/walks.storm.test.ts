import { beforeAll, describe, expect, test } from 'vitest';
import { buildWalks } from '../build.ts';
import { acceptMistakes, lateClaimMistakes, rerunMistakes, walkMistakes } from './mistakes.ts';
import { profiles } from './profiles.ts';
import { runWalks } from './run-walks.ts';

const WALKS = 4_100;

let program = '';
beforeAll(async () => {
  program = await buildWalks();
});

test.each(Object.keys(profiles))('walks of the profile "%s" break no promise', (profile) => {
  // Always the same seeds: a failure is never by chance.
  const printed = runWalks(program, '--profile', profile, '--seed', '1000000', '--walks', String(WALKS));
  process.stdout.write(`${profile}: ${printed}`);
  expect(printed).toContain(`${WALKS} walks from seed 1000000,`);
  expect(printed).not.toContain('BROKEN');
});

const MOST_WALKS_TO_MISTAKE = 2_000;

describe('walks find', () => {
  test.each([...walkMistakes, ...lateClaimMistakes, ...acceptMistakes, ...rerunMistakes])(
    '$name',
    async (mistake) => {
      const { profile, promise, seed = 1 } = mistake;
      const limits = ['--seed', String(seed), '--walks', String(MOST_WALKS_TO_MISTAKE), '--until', promise];
      const printed = runWalks(await buildWalks(mistake), '--profile', profile, ...limits);
      expect(printed).toContain(` × ${promise} (seed `);
    },
  );
});
