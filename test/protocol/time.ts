import type { LateCommand, Run, State } from './protocol-state.ts';
import { LEASE_TICKS, tick } from './store-model.ts';

/** A tick of the clock. */
export function pass(next: State): void {
  next.store = tick(next.store);
  for (const run of next.runs) {
    run.askedFor = Math.min(run.askedFor + 1, LEASE_TICKS);
    run.heldFor = Math.min(run.heldFor + 1, LEASE_TICKS);
    run.promised = Math.max(run.promised - 1, 0);
  }
  if (isHolding(next)) next.drop = { ...next.drop, heldFor: Math.min(next.drop.heldFor + 1, LEASE_TICKS) };
}

/** States that differ only in what nothing will ask for are one. */
export function forgetWhatNoLongerMatters(state: State): void {
  for (const run of state.runs) {
    if (!isAsking(run)) run.askedFor = 0;
    if (!mayBegin(run)) Object.assign(run, { heldFor: 0, ranLate: false, abandoned: 0 });
    if (!mayBegin(run) && run.step !== 'running') Object.assign(run, { promised: 0, known: 'held' });
    run.attempt = Math.min(run.attempt, 2);
  }
  if (!isHolding(state)) state.drop = { ...state.drop, heldFor: 0 };
  state.runs.sort((a, b) => a.token.localeCompare(b.token));
  state.late.sort((a, b) => nameOf(a).localeCompare(nameOf(b)));
  state.completionPending = [...new Set(state.completionPending)].sort();
}

function nameOf({ operation, token }: LateCommand): string {
  return `${operation} ${token}`;
}

/** Whether a tick would change anything. */
export function isTimed(state: State): boolean {
  const { store, runs, drop } = state;
  return (
    (isHolding(state) && drop.heldFor < LEASE_TICKS) ||
    (store.state === 'processing' && store.leaseLeft > 0) ||
    runs.some(
      (run) =>
        (isAsking(run) && run.askedFor < LEASE_TICKS) ||
        (mayBegin(run) && run.heldFor < LEASE_TICKS) ||
        run.promised > 0,
    )
  );
}

/** Whether the drop has a claim, or waits for one. */
function isHolding({ drop: { step } }: State): boolean {
  return step === 'claiming' || step === 'reading' || step === 'ready';
}

function isAsking({ step }: Run): boolean {
  return step === 'claiming' || step === 'polling' || step === 'confirming';
}

/** Whether the run's handlers may begin on the claim that it has. */
function mayBegin({ step }: Run): boolean {
  return step === 'storing' || step === 'ready' || step === 'confirming';
}
