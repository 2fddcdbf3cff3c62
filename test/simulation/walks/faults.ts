import type { Action, ActionSource } from './action.ts';
import type { Fault } from './configuration.ts';
import type { PendingOperation } from './pending-operation.ts';
import type { WalkProcess } from './process.ts';
import type { WalkWorld } from './world.ts';

const SET_BACK_MS = [1_000, 60_000, 3_600_000];

/**
 * The faults that may begin, as long as the configuration permits another one, and those that may end.
 */
export const faults: ActionSource = (world) => {
  const { configuration, faultCount, processes } = world;
  const ends: Action[] = processes
    .filter(({ state }) => state === 'frozen')
    .map((process) => ({
      kind: 'thaw',
      name: `${process.name} goes on`,
      act: () => process.thaw(),
    }));
  if (faultCount >= configuration.mostFaults) return ends;
  const all = [...configuration.faults].flatMap((fault) => sources[fault](world));
  return [...ends, ...all.map((action) => counted(world, action))];
};

function counted(world: WalkWorld, action: Action): Action {
  const act = (): void | Promise<void> => {
    world.faultCount += 1;
    return action.act();
  };
  return { ...action, act };
}

const sources: Readonly<Record<Fault, ActionSource>> = {
  crash: (world) =>
    world.processes
      .filter(({ state }) => state !== 'dead')
      .map((process) => fault(`${process.name} dies`, () => crash(process))),
  standstill: (world) =>
    world.running.map((process) => fault(`${process.name} stands still`, () => freeze(process))),
  'lost reply': (world) =>
    ofOperations(world, 'store', (operation, process) =>
      fault(`the answer to ${operation.name} is lost`, () => {
        disturb(operation, process);
        operation.fate = 'lost';
      }),
    ),
  'late reply': (world) => ofOperations(world, 'store', lateAnswerOf),
  'failed operation': (world) =>
    ofOperations(world, 'store', (operation, process) => failureOf(process, operation)),
  'late claim': (world) =>
    ofOperations(world, 'store', (operation, process) =>
      operation.mayComeLate && !operation.hasArrived ? delaysOf(operation, process) : [],
    ),
  // Letters and queues end each operation sooner or later: their clients have time limits of their own.
  letter: (world) => ofOperations(world, 'letters', disturbancesOf),
  queue: (world) => ofOperations(world, 'queue', disturbancesOf),
  forgetting: ({ events, store }) => [
    ...events.map((event) => fault(`the store forgets ${event.id}`, () => store.forget(event))),
    ...store.keyIds.map((id) => fault(`the store forgets the key ${id}`, () => store.forgetKey(id))),
  ],
  clock: (world) =>
    world.running.map((process) => {
      const ms = SET_BACK_MS[world.faultCount % SET_BACK_MS.length] ?? 0;
      return fault(`the clock of ${process.name} is set back by ${ms} ms`, () => {
        process.wallShiftMs -= ms;
        world.hasWrongClock = true;
      });
    }),
};

function fault(name: string, act: () => void): Action {
  return { kind: 'fault', name, act };
}

function crash(process: WalkProcess): void {
  for (const event of process.events) event.faults.add('crash');
  process.die();
}

function freeze(process: WalkProcess): void {
  for (const event of process.events) event.faults.add('standstill');
  process.state = 'frozen';
}

/** The faults of the operations that are on their way to a performer, and have had none. */
function ofOperations(
  { running }: WalkWorld,
  performer: PendingOperation['performer'],
  faultsOf: (operation: PendingOperation, process: WalkProcess) => Action | Action[],
): Action[] {
  return running.flatMap((process) =>
    process.pending
      .filter((operation) => operation.performer === performer && operation.fate === 'on time')
      .flatMap((operation) => faultsOf(operation, process)),
  );
}

/** The fault of an operation is that of its event, and of its claim. */
function disturb({ event, kind, performer, token }: PendingOperation, { world }: WalkProcess): void {
  event?.faults.add(performer);
  if (event === undefined) for (const other of world.events) other.faults.add(performer);
  if (token === undefined) return;
  world.claims.get(token)?.faults.add(kind);
  world.keyClaims.get(token)?.faults.add(kind);
}

function failureOf(process: WalkProcess, operation: PendingOperation): Action {
  const how = operation.hasArrived ? 'though it was performed' : 'and is not performed';
  return fault(`${operation.name} fails, ${how}`, () => {
    disturb(operation, process);
    process.forget(operation);
    process.run(() => operation.fail(new Error('the connection is lost')));
  });
}

/** A claim arrives after its process has given it up, and perhaps given it back. */
function delaysOf(operation: PendingOperation, process: WalkProcess): Action[] {
  return [
    fault(`${operation.name} is delayed`, () => {
      disturb(operation, process);
      operation.fate = 'delayed';
    }),
    fault(`${operation.name} fails, and is still on its way`, () => {
      disturb(operation, process);
      operation.fate = 'lost';
      process.run(() => operation.fail(new Error('the connection is lost')));
    }),
  ];
}

function lateAnswerOf(operation: PendingOperation, process: WalkProcess): Action {
  return fault(`the answer to ${operation.name} is late`, () => {
    disturb(operation, process);
    operation.fate = 'late';
  });
}

function disturbancesOf(operation: PendingOperation, process: WalkProcess): Action[] {
  return [failureOf(process, operation), lateAnswerOf(operation, process)];
}
