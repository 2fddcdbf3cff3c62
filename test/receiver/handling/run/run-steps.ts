import type { RunState } from '../../../../src/receiver/handling/run/run-state.ts';

type Step = RunState['step'];

/**
 * What may follow each step of a run, and when. docs/how-it-works.md has the diagram of it, and the
 * simulations look at each step that a run takes. A run may take its step again.
 */
export const runSteps: Readonly<Record<Step, Readonly<Partial<Record<Step, string>>>>> = {
  claiming: {
    storing: 'claimed, as the last attempt',
    acquiring: 'claimed, with maxRunning or concurrency keys',
    validating: 'claimed, and there is a schema',
    running: 'claimed, or the old claim still holds',
    waiting: 'another process has it',
    ended: 'completed before (duplicate)',
    failing: 'the store gives no answer, or closed',
  },
  waiting: {
    storing: 'that one failed or died',
    acquiring: 'the same',
    validating: 'the same',
    running: 'the same',
    claiming: 'the same, and the new lease has grown old',
    ended:
      'completed (duplicate), nobody waits any more, its body does not fit into the memory, or closed (busy)',
    failing: 'closed just as it was claimed',
  },
  storing: {
    acquiring: '',
    validating: '',
    running: '',
    claiming: 'the lease has grown old',
    waiting: 'the lease is lost',
    ended: 'an earlier attempt died (parked), or completed elsewhere',
    failing: 'closed',
  },
  acquiring: {
    validating: '',
    running: 'a handler has its permit and its key',
    claiming: 'the lease has grown old',
    waiting: 'the lease is lost',
    ended: 'completed elsewhere',
    failing: 'no permits, a key is busy, another process has the event, or closed',
  },
  validating: {
    running: 'the data is right',
    acquiring: 'the data is right, and the handlers wait for their keys',
    claiming: 'the lease has grown old',
    waiting: 'the lease is lost',
    ended: 'completed elsewhere',
    failing: 'the data is wrong, maxRunMs, or closed',
  },
  running: {
    completing: 'all handlers have succeeded',
    acquiring: 'no handler runs, and one still waits for its key',
    ended: 'completed elsewhere',
    failing: 'one threw, maxRunMs, or closed',
  },
  completing: {
    ended: 'the record is made, or pending',
  },
  failing: {
    ended: 'given back, and parked if it was the last attempt',
  },
  ended: {
    completing: 'aborted handlers succeed after all',
  },
};

/** The diagram of the steps, in the words of Mermaid. */
export function diagramOfSteps(): string {
  const lines = Object.entries(runSteps).flatMap(([from, next]) =>
    Object.entries(next).map(([to, when]) => `  ${from} --> ${to}${when === '' ? '' : `: ${when}`}`),
  );
  return ['stateDiagram-v2', '  [*] --> claiming', ...lines, '  ended --> [*]', ''].join('\n');
}
