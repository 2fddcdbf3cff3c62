import type { Action, ActionSource } from './action.ts';
import { clock } from './clock.ts';
import { isOfLetter, isOfStore, type Operation } from './operations.ts';
import type { SimulatedProcess } from './process.ts';
import { type Fault, type ProcessName, times } from './scope.ts';
import type { World } from './world.ts';

/** The faults that may happen now. */
export const faults: ActionSource = (world) => {
  const { calls, processes, scope } = world;
  // The last replay is the one that nothing fails of.
  if (world.faultCount === scope.mostFaults || calls.some(({ name }) => name === 'last replay')) return [];
  const actions: Action[] = [];
  const add = (fault: Fault, name: string, act: () => void): void => {
    if (!scope.faults.includes(fault)) return;
    const happen = (): void => {
      world.faultCount += 1;
      world.faults.add(fault);
      act();
    };
    actions.push({ kind: 'fault', name, act: happen });
  };
  for (const process of processes) {
    const { name, pending, state } = process;
    if (state !== 'running' || isIdle(process)) continue;
    add('crash', `${name} dies`, () => die(world, process));
    // A process that stands still before its claim, or after it, is only slow.
    if (hasClaim(world, name)) add('standstill', `${name} stands still`, () => process.freeze());
    for (const operation of pending) {
      const { kind, sentAt, isLost } = operation;
      // An answer that is lost later is as good as lost at once.
      if (isLost || sentAt !== clock.now) continue;
      const lose = (): void => loseAnswer(world, operation);
      if (isOfStore(kind)) add('lost reply', `${name} gets no answer to its ${kind}`, lose);
      if (!isOfLetter(kind)) continue;
      add('letter', `the ${kind} of ${name} hangs`, lose);
      add('letter', `the ${kind} of ${name} fails`, () => {
        process.end(operation, () => operation.fail(new Error('the disk of the world is full')));
      });
    }
  }
  return actions;
};

/** Returns true if the process has claimed an id. */
function hasClaim({ records, tokens }: World, name: ProcessName): boolean {
  return [...records.values()].some(
    ({ state, token = '' }) => state === 'processing' && tokens.get(token) === name,
  );
}

function isIdle({ name, pending }: SimulatedProcess): boolean {
  return pending.length === 0 && clock.timers.every(({ process }) => process !== name);
}

/** The operations that the process has sent may still arrive. */
function die(world: World, process: SimulatedProcess): void {
  world.promises.letterWriters.noteDeath(process);
  process.state = 'dead';
  clock.timers = clock.timers.filter((timer) => timer.process !== process.name);
  for (const operation of process.pending.splice(0)) {
    if (operation.kind !== 'handlers' && !operation.isLost && !operation.hasArrived)
      world.late.push(operation);
  }
  for (const call of world.calls) if (call.process === process) call.isOver = true;
  for (const delivery of world.deliveries) {
    if (delivery.process === process && delivery.state === 'waiting') delivery.state = 'lost';
  }
}

function loseAnswer(world: World, operation: Operation): void {
  operation.isLost = true;
  if (operation.token !== undefined && operation.kind !== 'claim')
    world.promises.claims.mayLeaseRunOut = true;
  world.late.push(operation);
}

/** An operation without an answer may arrive at any time, or never. A hung disk may answer in the end. */
export const lateOperations: ActionSource = (world) => {
  const { late, processes, scope } = world;
  return late.map((operation) => {
    const { kind, process: name, hasArrived } = operation;
    const process = processes.find((one) => one.name === name);
    const isAnswered = scope.mayHangingEnd && kind === 'put' && process?.state === 'running';
    const take = (): void => {
      late.splice(late.indexOf(operation), 1);
    };
    // Its client may have repeated a claim, and the server gets both in the end.
    if (kind === 'claim' && operation.isLost)
      return {
        kind: 'option',
        name: `the claim that ${name} gave up arrives${hasArrived ? ' again' : ''}`,
        act: () => {
          if (!hasArrived) return operation.arrive();
          take();
          operation.arriveAgain();
        },
      };
    if (hasArrived)
      return {
        kind: 'option',
        name: `${name} is answered its ${kind} after all`,
        act: () => {
          take();
          process?.end(operation, operation.reply);
        },
      };
    return {
      kind: 'option',
      name: `the ${kind} that ${name} gave up arrives`,
      act: () => {
        if (!isAnswered) take();
        operation.arrive();
      },
    };
  });
};

/** The operations of a process that stands still arrive. It goes on when another may have its event. */
export const frozenProcesses: ActionSource = ({ processes }) =>
  processes.flatMap((process) => {
    const { name, state, pending, frozenAt } = process;
    if (state !== 'frozen') return [];
    const sent = pending.filter(({ kind, hasArrived }) => kind !== 'handlers' && !hasArrived);
    const actions: Action[] = sent.map(({ kind, arrive }) => ({
      kind: 'option',
      name: `the ${kind} of ${name}, which stands still, arrives`,
      act: arrive,
    }));
    if (clock.now >= frozenAt + times.leaseMs)
      actions.push({ kind: 'step', name: `${name} goes on`, act: () => process.thaw() });
    return actions;
  });
