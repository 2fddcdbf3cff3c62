import { DropSteps } from './drop-steps.ts';
import { OutsideSteps } from './outside-steps.ts';
import type { State } from './protocol-state.ts';
import { RunSteps } from './run-steps.ts';
import type { Mistake, ProtocolStep } from './steps.ts';

/**
 * Everything that can happen next: two processes, two deliveries of one event, and one letter, which somebody
 * may replay or drop.
 */
export function successors(state: State, mistake?: Mistake): readonly ProtocolStep[] {
  return [
    ...new OutsideSteps(state, mistake).all(),
    ...new RunSteps(state, mistake).all(),
    ...new DropSteps(state, mistake).all(),
  ];
}
