import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';
import { type Exploration, explore } from './explore.ts';
import { brokenPromise } from './promises.ts';
import { successors } from './protocol-model.ts';
import { firstState, type Scope, type State } from './protocol-state.ts';
import type { Mistake, ProtocolStep } from './steps.ts';

function check(scope: Scope, mistake?: Mistake): Exploration {
  return explore<State, ProtocolStep>(
    firstState(scope),
    (state) => successors(state, mistake),
    brokenPromise,
  );
}

const timeout = 120_000;

describe('the protocol keeps its promises', () => {
  const scopes = {
    'without a fault, also when the letter is replayed': { faults: 0, mayReplay: true, mayDrop: false },
    'whatever fails once': { faults: 1, mayReplay: false, mayDrop: false },
    'without a fault, when the letter is dropped': { faults: 0, mayReplay: false, mayDrop: true },
    'a parked letter that is replayed and dropped, whatever fails of the replay': {
      faults: 1,
      mayReplay: true,
      mayDrop: true,
      isParked: true,
    },
  };
  test.each(Object.entries(scopes))('%s', { timeout }, (name, scope) => {
    const { states, steps, violation } = check(scope);
    process.stdout.write(`the protocol, ${name}: ${states} states, ${steps} steps\n`);
    expect(violation).toBeUndefined();
    const page = readFileSync(join(packageRoot, 'docs', 'how-it-works.md'), 'utf8');
    expect(page).toContain(`| ${states.toLocaleString('en-US')} |`);
  });
});

describe('the exploration finds', () => {
  const mistakes: Record<Mistake, string> = {
    'the id is recorded before the handlers run': 'no 2xx before the event is handled or parked',
    'a duplicate of a running event is accepted': 'no 2xx before the event is handled or parked',
    'handlers begin on an old claim': 'handlers begin only while no other run has a lease that holds',
    'a release ends the lease of anybody': 'nobody takes an id from a run whose lease holds',
    'a completion counts for the owner only': 'no handlers begin after the completion is known',
    'the letter of a last attempt is stored after it':
      'the letter of a last attempt is stored before its handlers run',
    'nobody looks again after a letter was stored beside a run':
      'no letter is left of an event that was handled',
    'a delivery that no retry will follow fails with the run that it waits for':
      'the last delivery is not refused while letters can be stored',
    'a drop completes an id that it has not claimed':
      'no event is dropped while a run has a lease that holds',
  };
  test.each(Object.entries(mistakes) as [Mistake, string][])('%s', { timeout }, (mistake, promise) => {
    const mayDrop = mistake.includes('drop');
    const { violation } = check({ faults: 0, mayReplay: true, mayDrop, isParked: mayDrop }, mistake);
    expect(violation?.broken).toBe(promise);
  });
});
