import type { Action, ActionSource } from './action.ts';
import type { Operation } from './operations.ts';
import type { SimulatedProcess } from './process.ts';

/** The operations that are answered before anything else happens. */
export const urgentAnswers: ActionSource = ({ processes, scope: { atOnce } }) => {
  for (const process of processes) {
    if (process.state !== 'running') continue;
    const urgent = process.pending.find(({ kind, isLost }) => !isLost && atOnce.some((one) => one === kind));
    if (urgent !== undefined) return answersTo(process, urgent);
  }
  return [];
};

/** The answers of the store, the letters and the handlers. */
export const answers: ActionSource = ({ processes }) =>
  processes
    .filter(({ state }) => state === 'running')
    .flatMap((process) =>
      process.pending.flatMap((operation) => (operation.isLost ? [] : answersTo(process, operation))),
    );

function answersTo(process: SimulatedProcess, operation: Operation): Action[] {
  const { kind } = operation;
  const end = (callback: () => void) => () => process.end(operation, callback);
  if (kind !== 'handlers')
    return [{ kind: 'step', name: `${process.name} is answered its ${kind}`, act: end(operation.reply) }];
  return [
    { kind: 'step', name: `the handlers of ${process.name} succeed`, act: end(operation.reply) },
    {
      kind: 'step',
      name: `the handlers of ${process.name} fail`,
      act: end(() => operation.fail(new Error('the handlers of the world failed'))),
    },
  ];
}
