import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fakeTime } from '../../../support/fake-time.ts';
import { type End, LEASE_MS, RerunWorld } from './rerun-walks.ts';

const pass = fc.constantFrom(20, LEASE_MS / 2, 2 * LEASE_MS);
const index: fc.Arbitrary<0 | 1> = fc.constantFrom(0, 1);
const how: fc.Arbitrary<End> = fc.constantFrom('succeed', 'fail');

type Step =
  | readonly ['rerun', 0 | 1, string]
  | readonly ['deliver', 0 | 1]
  | readonly ['end', End]
  | readonly ['crash', 0 | 1, End];

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(fc.constant('rerun' as const), index, fc.constantFrom('A', 'B')),
  fc.tuple(fc.constant('deliver' as const), index),
  fc.tuple(fc.constant('end' as const), how),
  fc.tuple(fc.constant('crash' as const), index, how),
);

function take(world: RerunWorld, given: Step): void {
  if (given[0] === 'rerun') world.rerun(given[1], given[2]);
  else if (given[0] === 'deliver') world.deliver(given[1]);
  else if (given[0] === 'end') world.end(given[1]);
  else world.crash(given[1], given[2]);
}

test('however reruns, deliveries and crashes interleave, no handler runs beside itself, nor again once it is done', async () => {
  const passTime = fakeTime();
  const walk = fc.array(fc.tuple(step, pass), { minLength: 3, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(fc.boolean(), walk, async (isHandled, steps) => {
      const world = new RerunWorld(isHandled);
      for (const [given, ms] of steps) {
        take(world, given);
        await passTime(ms);
      }
      await world.finish(passTime);
      for (const run of ['A', 'B']) {
        await passTime(2 * LEASE_MS);
        world.rerun(0, run);
        await world.finish(passTime);
      }
      expect(world.broken).toEqual([]);
      // Whatever has been, both can still be done, or are.
      expect([...world.done]).toEqual(expect.arrayContaining(['A', 'B']));
    }),
    { numRuns: 30 },
  );
});
