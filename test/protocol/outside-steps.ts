import {
  type Delivery,
  deliveryOf,
  type LateCommand,
  newRun,
  type Process,
  type Run,
  runOf,
  type State,
  settle,
  type Token,
} from './protocol-state.ts';
import { Steps } from './steps.ts';
import { isTimed, pass } from './time.ts';

/** What comes from outside: deliveries, deadlines, replays, the clock, late commands and crashes. */
export class OutsideSteps extends Steps {
  protected override collect(): void {
    this.#deliver();
    this.#replay();
    for (const { name, state } of this.state.deliveries) if (state === 'waiting') this.#deadline(name);
    for (const { token, process } of this.state.deaf) this.#endDeafHandlers(token, process);
    for (const command of this.state.late) this.#runLate(command);
    if (isTimed(this.state)) this.add('tick', 'a tick', pass);
    for (const process of ['A', 'B'] as const) this.#crash(process);
  }

  #deliver(): void {
    const [first, second] = this.state.deliveries;
    // By symmetry the first one goes to A.
    if (first.state === 'unsent')
      this.add('step', 'first arrives at A', (next) => arrive(next, 'first', 'A'));
    if (second.state !== 'unsent') return;
    for (const process of ['A', 'B'] as const)
      this.add('step', `second arrives at ${process}`, (next) => arrive(next, 'second', process));
  }

  /** Somebody replays the letter, once, unless it says that its event may still be running. */
  #replay(): void {
    const { mayReplay, letter, runs, deaf, completionPending } = this.state;
    if (!mayReplay || letter === 'none' || runs.some(({ process }) => process === 'B')) return;
    if (letter !== 'over' && runs.length + deaf.length > 0) return;
    this.add('option', 'the letter is replayed at B', (next) => {
      next.mayReplay = false;
      if (completionPending.includes('B')) next.letter = 'none';
      else next.runs.push(newRun('replay', 'B'));
    });
  }

  #deadline(name: Delivery['name']): void {
    const { run: token } = deliveryOf(this.state, name);
    const { step, hasLetter } = runOf(this.state, token);
    if (step === 'completing' || hasLetter || name === 'first') {
      const isSuccess = step === 'completing' || (hasLetter && step !== 'claiming');
      this.add('step', `the deadline of ${name}`, (next) =>
        settle(deliveryOf(next, name), isSuccess ? 'accepted' : 'refused'),
      );
      return;
    }
    this.write(`the deadline of ${name}, which is parked`, (next, isStored) => {
      const run = runOf(next, token);
      run.letterBegun = true;
      run.hasLetter ||= isStored;
      if (isStored) next.letter = step === 'claiming' ? 'over' : 'beside';
      settle(deliveryOf(next, name), isStored ? 'accepted' : 'refused');
    });
  }

  #endDeafHandlers(token: Token, process: Process): void {
    const stop = (next: State): void => {
      next.deaf = next.deaf.filter((one) => one.token !== token);
    };
    this.add('step', `the aborted handlers of ${token} succeed after all`, (next) => {
      stop(next);
      next.handled = true;
      next.late.push({ operation: 'completeAndRemove', token, process });
      next.completionPending.push(process);
    });
    this.add('step', `the aborted handlers of ${token} fail`, (next) => {
      stop(next);
      next.late.push({ operation: 'release', token, process });
    });
  }

  #runLate(command: LateCommand): void {
    const { operation, token, process } = command;
    this.add('step', `a late ${operation} of ${token} runs`, (next) => {
      const index = next.late.findIndex((one) => one.operation === operation && one.token === token);
      next.late.splice(index, 1);
      if (operation === 'reconcile') this.#reconcile(next, token);
      else if (operation === 'releaseAndLookAgain') this.#releaseAndLookAgain(next, command);
      else if (operation === 'completeAndRemove') this.operate(next, 'complete', token);
      else this.operate(next, operation, token);
      if (operation === 'completeAndRemove') next.letter = 'none';
      if (!operation.startsWith('complete') || !next.completionPending.includes(process)) return;
      next.recorded = true;
      next.completionPending = next.completionPending.filter((one) => one !== process);
    });
  }

  #releaseAndLookAgain(next: State, { token, process }: LateCommand): void {
    const { state } = this.operate(next, 'release', token);
    if (state !== 'released') this.lookAgain(next, { token, process });
  }

  #reconcile(next: State, token: Token): void {
    const own = `${token}, looking again`;
    const { state } = this.operate(next, 'claim', own);
    if (state === 'completed') next.letter = 'none';
    if (state === 'claimed') this.operate(next, 'release', own);
  }

  /** What the process has sent may still run, or be lost with it. */
  #crash(process: Process): void {
    const isIdle = !this.state.runs.some((run) => run.process === process);
    if (isIdle || this.state.faults.crash) return;
    for (const isSent of [true, false]) {
      this.fault('crash', `${process} dies; what it sent ${isSent ? 'arrives' : 'is lost'}`, (next) => {
        const commands = next.runs.filter((run) => run.process === process).flatMap(sentBy);
        const others = next.late.filter((command) => command.process !== process);
        next.late = isSent ? [...next.late, ...commands] : others;
        const dead = next.runs.filter((run) => run.process === process).map(({ token }) => token);
        next.runs = next.runs.filter((run) => run.process !== process);
        next.deaf = next.deaf.filter((handlers) => handlers.process !== process);
        next.completionPending = next.completionPending.filter((one) => one !== process);
        for (const delivery of next.deliveries)
          if (delivery.run !== undefined && dead.includes(delivery.run)) settle(delivery, 'lost');
      });
    }
  }
}

/** The command that a run waits for. */
function sentBy({ step, token, process }: Run): LateCommand[] {
  const operations = {
    claiming: 'claim',
    polling: 'claim',
    confirming: 'renew',
    completing: 'complete',
    releasing: 'release',
  } as const;
  return step in operations
    ? [{ operation: operations[step as keyof typeof operations], token, process }]
    : [];
}

function arrive(next: State, name: Delivery['name'], process: Process): void {
  const delivery = deliveryOf(next, name);
  if (next.completionPending.includes(process)) {
    delivery.state = 'accepted';
    return;
  }
  let run = next.runs.find((one) => one.process === process);
  if (run === undefined) {
    run = newRun(name, process);
    next.runs.push(run);
  }
  delivery.state = 'waiting';
  delivery.run = run.token;
}
