import type { ActionSource } from './action.ts';
import { ENTRY, EVENT, HANDLER } from './event.ts';
import { begin } from './letters.ts';
import type { SimulatedProcess } from './process.ts';
import type { World } from './world.ts';

/** The codes of all failures that the world can cause; undefined after a success. */
const CODES: readonly (string | undefined)[] = [
  ...[undefined, 'handler_failed', 'run_timeout', 'event_running', 'store_unavailable'],
];

/**
 * The application reruns the handler of the event: side by side, and again after a crash. By symmetry the
 * first rerun of a world without deliveries goes to the first process.
 */
export const reruns: ActionSource = (world) => {
  const { calls, processes, scope } = world;
  const count = calls.filter(({ name }) => name === 'rerun').length;
  const run = scope.reruns[count];
  if (run === undefined) return [];
  const targets = count === 0 && scope.deliveries === 0 ? processes.slice(0, 1) : processes;
  return targets
    .filter(({ state }) => state === 'running')
    .map((process) => ({
      kind: 'option',
      name: `${process.name} reruns the handler: ${run}`,
      act: () => rerun(world, process, run),
    }));
};

function rerun(world: World, process: SimulatedProcess, run: string): void {
  const call = begin(world, 'rerun', process);
  process.run(() => {
    void process.receiver.rerun(ENTRY, { handlers: [HANDLER], run }).then(({ code, outcome, warnings }) => {
      if (!CODES.includes(code)) throw new Error(`the world has no reason for ${code}`);
      call.isOver = true;
      if (outcome === 'processed') world.promises.reruns.noteSuccess(process.name, run, warnings);
    });
  });
}

/** The event was handled. */
export function handle({ memory, promises, record }: World): void {
  record.complete(memory, { id: EVENT.id, token: 'earlier', retentionMs: Number.MAX_SAFE_INTEGER });
  promises.isHandled = true;
}
