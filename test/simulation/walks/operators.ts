import { ENTRY } from '../event.ts';
import type { Action, ActionSource } from './action.ts';
import { noteAccepted } from './answer-promises.ts';
import type { WalkProcess } from './process.ts';
import { noteRerun } from './rerun-promises.ts';
import type { SimulatedEvent } from './simulated-event.ts';
import type { WalkWorld } from './world.ts';

/**
 * People replay and drop letters, accept events that they have fetched, rerun handlers that have finished,
 * close processes, and start them again.
 */
export const operators: ActionSource = (world) => {
  const { configuration, events, letters, running } = world;
  const actions: Action[] = [];
  for (const process of running) {
    if (process.closingSince !== undefined) continue;
    for (const id of letters.keys()) {
      if (configuration.mayReplay && !process.tasks.has(`replay of ${id}`))
        actions.push(replayOf(world, process, id));
      if (configuration.mayDrop && !process.tasks.has(`drop of ${id}`))
        actions.push(dropOf(world, process, id));
    }
    for (const event of configuration.mayAccept ? events : [])
      if (!process.tasks.has(`accept of ${event.id}`)) actions.push(acceptOf(process, event));
    for (const event of configuration.mayRerun ? events : [])
      actions.push(...rerunsOf(world, process, event));
    if (configuration.mayClose) actions.push(...closingsOf(process));
  }
  for (const process of running) if (process.isClosed) actions.push(exitOf(process));
  return [...actions, ...startsOf(world)];
};

function replayOf(world: WalkWorld, process: WalkProcess, id: string): Action {
  return {
    kind: 'replay',
    name: `${process.name} replays the letter of ${id}`,
    act: () => process.run(() => replay(world, process, id)),
  };
}

export function replay({ letters }: WalkWorld, process: WalkProcess, id: string): void {
  const letter = letters.get(id);
  if (letter === undefined) return;
  const task = `replay of ${id}`;
  process.tasks.add(task);
  process.hasReplayed = true;
  void process.receiver.replay(letter).finally(() => process.tasks.delete(task));
}

function dropOf({ letters }: WalkWorld, process: WalkProcess, id: string): Action {
  const task = `drop of ${id}`;
  const act = () => {
    const letter = letters.get(id);
    if (letter === undefined) return;
    process.tasks.add(task);
    void process.receiver.drop(letter).then(
      () => process.tasks.delete(task),
      () => process.tasks.delete(task),
    );
  };
  return {
    kind: 'drop',
    name: `${process.name} drops the letter of ${id}`,
    act: () => process.run(act),
  };
}

function acceptOf(process: WalkProcess, event: SimulatedEvent): Action {
  return {
    kind: 'accept',
    name: `${process.name} accepts ${event.id}`,
    act: () => process.run(() => accept(process, event)),
  };
}

function accept(process: WalkProcess, event: SimulatedEvent): void {
  const task = `accept of ${event.id}`;
  process.tasks.add(task);
  process.events.add(event);
  process.hasAccepted = true;
  void process.receiver.accept(event.body, { source: 'the list of the world' }).then((report) => {
    process.tasks.delete(task);
    noteAccepted(process, event, report);
  });
}

/** Two runs of a handler have different names; each may be repeated. */
const RUNS = ['fix', 'other fix'];

function rerunsOf(world: WalkWorld, process: WalkProcess, event: SimulatedEvent): Action[] {
  const handled = world.configuration.handlers.flatMap(({ name }, index) =>
    name !== undefined && event.succeeded.has(index) ? [name] : [],
  );
  return handled.flatMap((handler) =>
    RUNS.filter((run) => !process.tasks.has(`rerun "${run}" of ${handler} of ${event.id}`)).map((run) => ({
      kind: 'rerun',
      name: `${process.name} reruns ${handler} of ${event.id}: ${run}`,
      act: () => process.run(() => rerun(process, event, handled, { handler, run })),
    })),
  );
}

function rerun(
  process: WalkProcess,
  event: SimulatedEvent,
  handled: readonly string[],
  { handler, run }: { readonly handler: string; readonly run: string },
): void {
  const task = `rerun "${run}" of ${handler} of ${event.id}`;
  process.tasks.add(task);
  process.events.add(event);
  process.hasRerun = true;
  const entry = { ...ENTRY, id: event.id, rawBody: event.body, handled };
  void process.receiver.rerun(entry, { handlers: [handler], run }).then((report) => {
    process.tasks.delete(task);
    noteRerun(process, event, handler, run, report);
  });
}

function closingsOf(process: WalkProcess): Action[] {
  return [0, 2_000, 30_000].map((graceMs) => ({
    kind: 'close',
    name: `${process.name} closes with a grace of ${graceMs} ms`,
    act: () => process.run(() => process.close(graceMs)),
  }));
}

function exitOf(process: WalkProcess): Action {
  return { kind: 'exit', name: `${process.name} has closed, and ends`, act: () => process.die() };
}

/** A process that has died is started again under a new name: A, A2, A3. */
function startsOf(world: WalkWorld): Action[] {
  return world.processes
    .filter(({ state }) => state === 'dead')
    .map(({ name }) => successorOf(name))
    .filter((name) => !world.processes.some((process) => process.name === name))
    .map((name) => ({ kind: 'start', name: `${name} starts`, act: () => world.start(name) }));
}

function successorOf(name: string): string {
  return `${name.charAt(0)}${Number(name.slice(1) || '1') + 1}`;
}
