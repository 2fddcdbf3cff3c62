import type { State } from './protocol-state.ts';
import type { ProtocolStep } from './steps.ts';

/** The promise that a state breaks, if it breaks one. `next` is all that can happen in it. */
export function brokenPromise(state: State, next: readonly ProtocolStep[]): string | undefined {
  return state.broken ?? brokenAlways(state) ?? (isAtRest(next) ? brokenAtRest(state) : undefined);
}

function brokenAlways(state: State): string | undefined {
  const { deliveries, dropped, handled, letter, runs, store } = state;
  const isKept = handled || dropped || letter !== 'none';
  if (deliveries.some((delivery) => delivery.state === 'accepted') && !isKept)
    return 'no 2xx before the event is handled or parked';
  const isTaken = runs.some(
    ({ token, step, promised }) =>
      step === 'running' &&
      promised > 0 &&
      store.state !== 'completed' &&
      !(store.state === 'processing' && store.token === token),
  );
  return isTaken ? 'nobody takes an id from a run whose lease holds' : undefined;
}

/** Nothing happens any more, unless a fault does, or somebody chooses to. */
function isAtRest(next: readonly ProtocolStep[]): boolean {
  return next.every(({ kind }) => kind === 'fault' || kind === 'option');
}

function brokenAtRest({ deliveries, faults, letter, store }: State): string | undefined {
  const [, second] = deliveries;
  if (deliveries.some((delivery) => delivery.state === 'waiting')) return 'every delivery is answered';
  if (second.state === 'refused' && !faults.letter)
    return 'the last delivery is not refused while letters can be stored';
  const hadFault = faults.crash || faults.completion || faults.letter;
  if (!hadFault && letter !== 'none' && store.state === 'completed')
    return 'no letter is left of an event that was handled';
  return undefined;
}

/** The promise that a drop breaks by completing the id in this state. */
export function brokenByDropping({ runs }: State): string | undefined {
  const isHeld = runs.some(
    ({ step, promised }) => (step === 'running' || step === 'completing') && promised > 0,
  );
  return isHeld ? 'no event is dropped while a run has a lease that holds' : undefined;
}
