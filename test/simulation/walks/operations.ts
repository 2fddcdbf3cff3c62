import { PermanentError } from '../../../src/receiver/errors.ts';
import type { Action, ActionSource } from './action.ts';
import type { PendingOperation } from './pending-operation.ts';
import type { WalkProcess } from './process.ts';

/** The answers of store, letters, queue and handlers, and the operations that arrive without an answer. */
export const operations: ActionSource = ({ orphans, processes }) => [
  ...processes.flatMap((process) => process.pending.flatMap((operation) => ofProcess(process, operation))),
  ...orphans.map(
    (operation): Action => ({
      kind: 'arrival',
      name: `${operation.name} arrives, though its process has died`,
      act: () => {
        orphans.splice(orphans.indexOf(operation), 1);
        operation.arrive();
      },
    }),
  ),
];

function ofProcess(process: WalkProcess, operation: PendingOperation): Action[] {
  if (operation.kind === 'handler') return process.state === 'running' ? endsOf(process, operation) : [];
  const isSent = operation.performer !== 'application';
  const arrival = isSent && operation.mayArrive ? [arrivalOf(operation)] : [];
  if (process.state !== 'running' || operation.isLost) return arrival;
  const refusal = operation.kind === 'schema' ? [refusalOf(process, operation)] : [];
  return [...arrival, answerTo(process, operation), ...refusal];
}

function arrivalOf(operation: PendingOperation): Action {
  const { hasArrived, name } = operation;
  if (hasArrived)
    return { kind: 'arrival', name: `${name} arrives again`, act: () => operation.arriveAgain() };
  return { kind: 'arrival', name: `${name} arrives`, act: () => operation.arrive() };
}

export function answerTo(process: WalkProcess, operation: PendingOperation): Action {
  return {
    kind: operation.fate === 'late' ? 'lateAnswer' : 'answer',
    name: `${operation.name} is answered`,
    act: () => {
      process.forget(operation);
      process.run(() => operation.reply());
    },
  };
}

/** The schema refuses the data. */
function refusalOf(process: WalkProcess, operation: PendingOperation): Action {
  return {
    kind: 'failure',
    name: `${operation.name} refuses the data`,
    act: () => failHandler(process, operation, new Error('the data is not as it should be')),
  };
}

function endsOf(process: WalkProcess, operation: PendingOperation): Action[] {
  const success: Action = {
    ...answerTo(process, operation),
    kind: 'success',
    name: `${operation.name} succeeds`,
  };
  const failure: Action = {
    kind: 'failure',
    name: `${operation.name} fails`,
    act: () => failHandler(process, operation),
  };
  const permanent: Action = {
    kind: 'permanentFailure',
    name: `${operation.name} fails for good`,
    act: () => failHandler(process, operation, new PermanentError('it fails for good')),
  };
  return operation.event?.isPoison ? [failure, permanent] : [success, failure, permanent];
}

export function failHandler(
  process: WalkProcess,
  operation: PendingOperation,
  error = new Error('it fails'),
): void {
  process.forget(operation);
  process.run(() => operation.fail(error));
}
