import type { StoreOperation } from '../dedupe/store-operations.ts';
import { type Run, runOf, type State } from './protocol-state.ts';
import { Steps } from './steps.ts';
import { LEASE_TICKS, type StoreAnswer } from './store-model.ts';

/** What the runs do next: the way of an event through `src/handling/run.ts` and `src/dedupe/claim.ts`. */
export class RunSteps extends Steps {
  protected override collect(): void {
    for (const run of this.state.runs) this.#continue(run);
  }

  #continue(run: Run): void {
    switch (run.step) {
      case 'claiming':
      case 'polling':
        this.#claim(run);
        break;
      case 'waiting':
        this.#wait(run);
        break;
      case 'storing':
        this.#renew(run);
        this.#storeLetter(run);
        break;
      case 'ready':
        this.#renew(run);
        this.#begin(run);
        break;
      case 'confirming':
        this.#confirm(run);
        break;
      case 'running':
        this.#renew(run);
        this.#run(run);
        break;
      case 'completing':
        this.#complete(run);
        break;
      case 'parking':
        this.#parkFailure(run);
        break;
      case 'releasing':
        this.#release(run);
        break;
    }
  }

  #claim({ token, step, process }: Run): void {
    this.add('step', `${token} is answered its claim`, (next) => {
      const run = runOf(next, token);
      const answer = this.#ask(next, 'claim', run);
      if (answer.state === 'claimed') this.#prepare(next, run, answer);
      else if (answer.state === 'busy') this.#beBusy(next, run);
      else this.#endAsDuplicate(next, run);
    });
    this.fault('timeout', `${token} gets no answer to its claim`, (next) => {
      const run = runOf(next, token);
      next.late.push({ operation: 'claim', token, process });
      if (step === 'polling') Object.assign(run, { step: 'waiting', unsure: true });
      else {
        this.#releaseLate(next, run);
        this.end(next, run, 'refused');
      }
    });
  }

  #prepare(next: State, run: Run, { attempt = 1, abandoned = 0 }: StoreAnswer): void {
    const isFinalByAge = next.deliveries[1].state !== 'unsent';
    run.attempt = attempt;
    run.abandoned = abandoned;
    run.final = run.token === 'replay' || isFinalByAge || attempt > 1;
    const isStoredFirst = this.mistake !== 'the letter of a last attempt is stored after it';
    run.step = run.final && isStoredFirst ? 'storing' : 'ready';
    if (this.mistake === 'the id is recorded before the handlers run') next.store = { state: 'completed' };
  }

  #beBusy(next: State, run: Run): void {
    run.step = 'waiting';
    if (this.mistake === 'a duplicate of a running event is accepted') this.end(next, run, 'accepted');
  }

  #wait({ token, process, unsure }: Run): void {
    if (this.state.deliveries.some((delivery) => delivery.run === token)) {
      this.add('step', `${token} asks again`, (next) => {
        Object.assign(runOf(next, token), { step: 'polling', askedFor: 0 });
      });
      return;
    }
    this.add('step', `${token} stops waiting`, (next) => {
      const run = runOf(next, token);
      if (unsure) next.late.push({ operation: 'release', token, process });
      if (run.letterBegun) this.lookAgain(next, run);
      this.end(next, run, 'refused');
    });
  }

  #storeLetter({ token }: Run): void {
    this.write(`${token} stores the letter of its last attempt`, (next, isStored) => {
      const run = runOf(next, token);
      const wasAbandoned = run.abandoned > 0 || next.letter === 'lastAttempt';
      const mayRun = token === 'replay' || !wasAbandoned;
      run.letterBegun = true;
      run.hasLetter ||= isStored || next.letter !== 'none';
      if (isStored) next.letter = mayRun ? 'lastAttempt' : 'over';
      run.step = mayRun || !run.hasLetter ? 'ready' : 'releasing';
    });
  }

  /** The check of the claim and the start of the handlers are one step: no await lies in between. */
  #begin({ token, known, heldFor }: Run): void {
    const isOld = known === 'held' && heldFor > LEASE_TICKS / 2;
    if (isOld && this.mistake !== 'handlers begin on an old claim') {
      this.add('step', `${token} confirms its claim`, (next) => {
        Object.assign(runOf(next, token), { step: 'confirming', askedFor: 0 });
      });
    } else if (known === 'held') {
      this.add('step', `${token} runs its handlers`, (next) => {
        const run = runOf(next, token);
        run.step = 'running';
        next.broken = brokenByBeginning(next, run);
      });
    } else {
      this.add('step', `${token} sees that it has lost its claim`, (next) => {
        const run = runOf(next, token);
        if (known === 'lost') run.step = 'waiting';
        else this.#endAsDuplicate(next, run);
      });
    }
  }

  #confirm({ token, process }: Run): void {
    this.add('step', `${token} is answered its renewal`, (next) => {
      const run = runOf(next, token);
      this.#ask(next, 'renew', run);
      run.step = 'ready';
    });
    this.fault('timeout', `${token} gets no answer to its renewal`, (next) => {
      next.late.push({ operation: 'renew', token, process });
      this.#fail(runOf(next, token));
    });
  }

  /** In the background, so that a renewal without an answer changes nothing. */
  #renew({ token, process, known }: Run): void {
    if (known !== 'held') return;
    this.add('option', `${token} renews its lease`, (next) => {
      const run = runOf(next, token);
      run.askedFor = 0;
      const { state } = this.#ask(next, 'renew', run);
      if (state === 'held' || run.step !== 'running') return;
      next.deaf.push({ token, process });
      if (state === 'lost') this.#fail(run);
      else this.#endAsDuplicate(next, run);
    });
  }

  #run({ token }: Run): void {
    this.add('step', `the handlers of ${token} succeed`, (next) => {
      next.handled = true;
      runOf(next, token).step = 'completing';
    });
    this.add('step', `the handlers of ${token} fail`, (next) => this.#fail(runOf(next, token)));
  }

  #complete({ token, process }: Run): void {
    this.add('step', `${token} records its completion`, (next) => {
      const run = runOf(next, token);
      this.#ask(next, 'complete', run);
      next.recorded = true;
      this.#endAsProcessed(next, run);
    });
    this.fault('completion', `${token} gets no answer to its completion`, (next) => {
      next.late.push({ operation: 'complete', token, process });
      next.completionPending.push(process);
      this.#endAsProcessed(next, runOf(next, token));
    });
  }

  #endAsProcessed(next: State, run: Run): void {
    const isFinalByAge = next.deliveries[1].state !== 'unsent';
    if (run.hasLetter || run.letterBegun || run.attempt !== 1 || isFinalByAge) next.letter = 'none';
    this.end(next, run, 'accepted');
  }

  #fail(run: Run): void {
    run.step = run.final || run.letterBegun ? 'parking' : 'releasing';
  }

  #parkFailure({ token }: Run): void {
    this.write(`${token} parks its failure`, (next, isStored) => {
      const run = runOf(next, token);
      run.letterBegun = true;
      run.hasLetter ||= isStored;
      if (isStored) next.letter = 'over';
      run.step = 'releasing';
    });
  }

  #release({ token, hasLetter }: Run): void {
    const outcome = hasLetter ? 'accepted' : 'refused';
    this.add('step', `${token} gives the id back`, (next) => {
      const run = runOf(next, token);
      const { state } = this.#ask(next, 'release', run);
      if (state === 'lost' && mayHaveLetter(run)) this.lookAgain(next, run);
      if (state === 'completed') this.#endAsDuplicate(next, run);
      else this.end(next, run, outcome);
    });
    this.fault('timeout', `${token} gets no answer to its release`, (next) => {
      const run = runOf(next, token);
      this.#releaseLate(next, run);
      this.end(next, run, outcome);
    });
  }

  #releaseLate(next: State, run: Run): void {
    const { token, process } = run;
    next.late.push({ operation: mayHaveLetter(run) ? 'releaseAndLookAgain' : 'release', token, process });
  }

  /** Runs an operation for a run that waits for the answer. */
  #ask(next: State, operation: StoreOperation, run: Run): StoreAnswer {
    const answer = this.operate(next, operation, run.token);
    if (answer.state === 'claimed' || answer.state === 'held') {
      run.heldFor = run.askedFor;
      run.known = 'held';
      run.promised = LEASE_TICKS;
      run.ranLate = next.recorded;
    }
    if (operation === 'renew' && (answer.state === 'lost' || answer.state === 'completed'))
      run.known = answer.state;
    return answer;
  }

  #endAsDuplicate(next: State, run: Run): void {
    if (mayHaveLetter(run)) next.letter = 'none';
    this.end(next, run, 'accepted');
  }
}

function mayHaveLetter({ hasLetter, letterBegun }: Run): boolean {
  return hasLetter || letterBegun;
}

function brokenByBeginning(state: State, run: Run): string | undefined {
  const others = state.runs.filter(({ token, step }) => token !== run.token && step === 'running');
  if (others.some(({ promised }) => promised > 0))
    return 'handlers begin only while no other run has a lease that holds';
  if (run.ranLate) return 'no handlers begin after the completion is known';
  if (run.final && state.letter === 'none' && !state.handled && !state.faults.letter)
    return 'the letter of a last attempt is stored before its handlers run';
  return undefined;
}
