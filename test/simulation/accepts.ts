import type { ActionSource } from './action.ts';
import { EVENT } from './event.ts';
import { begin } from './letters.ts';
import type { SimulatedProcess } from './process.ts';
import type { World } from './world.ts';

/** Codes of the failures of handlers; any other failure is one of the store, or of another process. */
const OF_HANDLERS: readonly (string | undefined)[] = ['handler_failed', 'run_timeout'];

/**
 * The application accepts the event, which it has fetched: side by side, and again after a crash. By symmetry
 * the first accept of a world without deliveries goes to the first process.
 */
export const accepts: ActionSource = (world) => {
  const { calls, processes, scope } = world;
  const count = calls.filter(({ name }) => name === 'accept').length;
  if (count === scope.accepts) return [];
  const targets = count === 0 && scope.deliveries === 0 ? processes.slice(0, 1) : processes;
  return targets
    .filter(({ state }) => state === 'running')
    .map((process) => ({
      kind: 'option',
      name: `${process.name} accepts the event`,
      act: () => accept(world, process),
    }));
};

function accept(world: World, process: SimulatedProcess): void {
  const { promises } = world;
  const call = begin(world, 'accept', process);
  process.run(() => {
    void process.receiver.accept(EVENT, { source: 'the list of the world' }).then(({ code, outcome }) => {
      call.isOver = true;
      if (outcome !== 'failed' && outcome !== 'busy') return promises.noteAccepted();
      promises.noteFailed(process);
      if (OF_HANDLERS.includes(code)) promises.noteNotParked();
    });
  });
}
