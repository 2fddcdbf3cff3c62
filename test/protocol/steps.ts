import type { StoreOperation } from '../dedupe/store-operations.ts';
import type { Step } from './explore.ts';
import { copyOf, type Run, type State, settle } from './protocol-state.ts';
import { operate, type StoreAnswer } from './store-model.ts';
import { forgetWhatNoLongerMatters } from './time.ts';

/** Mistakes that can be built in, to see that the exploration finds them. */
export type Mistake =
  | 'the id is recorded before the handlers run'
  | 'a duplicate of a running event is accepted'
  | 'handlers begin on an old claim'
  | 'a release ends the lease of anybody'
  | 'a completion counts for the owner only'
  | 'the letter of a last attempt is stored after it'
  | 'nobody looks again after a letter was stored beside a run'
  | 'a delivery that no retry will follow fails with the run that it waits for'
  | 'a drop completes an id that it has not claimed';

const FAILS_WITH_ITS_RUN: Mistake =
  'a delivery that no retry will follow fails with the run that it waits for';

/** A `step` or `tick` happens sooner or later; a `fault` or an `option` may never happen. */
export type Kind = 'step' | 'tick' | 'fault' | 'option';

export type ProtocolStep = Step<State> & { readonly kind: Kind };

/** Collects what can happen next in a state. */
export abstract class Steps {
  protected readonly state: State;
  protected readonly mistake: Mistake | undefined;
  readonly #steps: ProtocolStep[] = [];

  constructor(state: State, mistake: Mistake | undefined) {
    this.state = state;
    this.mistake = mistake;
  }

  all(): readonly ProtocolStep[] {
    this.collect();
    return this.#steps;
  }

  protected abstract collect(): void;

  /** Adds a step; `change` works on a copy. */
  protected add(kind: Kind, action: string, change: (next: State) => void): void {
    const next = copyOf(this.state);
    change(next);
    forgetWhatNoLongerMatters(next);
    this.#steps.push({ kind, action, state: next });
  }

  protected fault(fault: keyof State['faults'], action: string, change: (next: State) => void): void {
    if (this.state.faultsLeft === 0) return;
    this.add('fault', action, (next) => {
      next.faultsLeft -= 1;
      next.faults[fault] = true;
      change(next);
    });
  }

  /** A step with a letter to be written: it is, or that fails. */
  protected write(action: string, change: (next: State, isStored: boolean) => void): void {
    this.add('step', action, (next) => change(next, true));
    this.fault('letter', `${action}, which fails`, (next) => change(next, false));
  }

  protected operate(next: State, operation: StoreOperation, token: string): StoreAnswer {
    const { store } = next;
    const isOthers = store.state === 'processing' && store.token !== token;
    if (isOthers && operation === 'complete' && this.mistake === 'a completion counts for the owner only')
      return { state: 'lost' };
    const actsFor =
      isOthers && operation === 'release' && this.mistake === 'a release ends the lease of anybody'
        ? store.token
        : token;
    const { record, answer } = operate(store, operation, actsFor);
    next.store = record;
    return answer;
  }

  /**
   * Ends a run, and answers the deliveries that wait for it. One that is final by age is parked where the run
   * has failed.
   */
  protected end(next: State, run: Run, outcome: 'accepted' | 'refused'): void {
    next.runs = next.runs.filter(({ token }) => token !== run.token);
    for (const delivery of next.deliveries) {
      if (delivery.run !== run.token) continue;
      if (outcome === 'refused' && delivery.name === 'second' && this.mistake !== FAILS_WITH_ITS_RUN) {
        // Whether this letter can be written is the choice of a fault that has happened before.
        const isStored = !next.faults.letter;
        if (isStored) {
          next.letter = 'over';
          this.lookAgain(next, run);
        }
        settle(delivery, isStored ? 'accepted' : 'refused');
      } else settle(delivery, outcome);
    }
  }

  /** Another process may have completed the event while its letter was written. */
  protected lookAgain(next: State, { token, process }: Pick<Run, 'token' | 'process'>): void {
    if (this.mistake === 'nobody looks again after a letter was stored beside a run') return;
    next.late.push({ operation: 'reconcile', token, process });
  }
}
