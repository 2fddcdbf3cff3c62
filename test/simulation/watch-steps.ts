import { Run } from '../../src/receiver/handling/run/run.ts';
import type { RunState } from '../../src/receiver/handling/run/run-state.ts';
import { runSteps } from '../receiver/handling/run/run-steps.ts';

type OnWrongStep = (step: string) => void;

let onWrongStep: OnWrongStep = () => {};

/** Calls a function with each step of a run that the table does not have, in place of the function before. */
export function watchSteps(watcher: OnWrongStep): void {
  onWrongStep = watcher;
}

const { enter } = Run.prototype;

Run.prototype.enter = function (this: Run, next: RunState): void {
  const from = this.state.step;
  if (next.step !== from && runSteps[from][next.step] === undefined) onWrongStep(`${from} to ${next.step}`);
  enter.call(this, next);
};
