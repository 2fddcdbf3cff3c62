import type { DeadLetter } from '../../src/receiver/dead-letters/dead-letters.ts';
import type { Action, ActionSource } from './action.ts';
import { clock } from './clock.ts';
import { BODY, EVENT, HEADERS } from './event.ts';
import { isOfLetter, type Operation } from './operations.ts';
import type { SimulatedProcess } from './process.ts';
import type { World } from './world.ts';

/** A replay, a drop, an accept or a rerun. */
export interface Call {
  readonly name: 'replay' | 'drop' | 'last replay' | 'accept' | 'rerun';
  readonly process: SimulatedProcess;
  /** By the monotonic clock. */
  readonly begunAt: number;
  isOver: boolean;
}

/** Somebody replays the letter, and somebody drops it, once each, unless it says that its event may run. */
export const letterActions: ActionSource = (world) => {
  const { calls, letters, scope } = world;
  const letter = letters.get(EVENT.id);
  const process = world.processes.findLast(({ state }) => state === 'running');
  if (letter === undefined || process === undefined || isMarked(letter)) return [];
  const isPossible = (name: Call['name']) => calls.every((call) => call.name !== name);
  const actions: Action[] = [];
  if (scope.mayReplay && isPossible('replay'))
    actions.push({
      kind: 'option',
      name: `the letter is replayed at ${process.name}`,
      act: () => replay(world, letter, begin(world, 'replay', process)),
    });
  if (scope.mayDrop && isPossible('drop'))
    actions.push({
      kind: 'option',
      name: `the letter is dropped at ${process.name}`,
      act: () => drop(letter, begin(world, 'drop', process)),
    });
  return actions;
};

/** A fault may leave the letter of an event that was handled. Its replay, in the end, must remove it. */
export const lastReplay: ActionSource = (world) => {
  const { calls, faults, letters, processes, promises } = world;
  const letter = letters.get(EVENT.id);
  // A letter cannot be removed while an earlier operation on it hangs.
  const process = processes.findLast(({ state, pending }) => state === 'running' && !pending.some(isHanging));
  if (letter === undefined || process === undefined) return [];
  if (faults.size === 0 || !promises.isRecorded) return [];
  if (calls.some(({ name }) => name === 'last replay')) return [];
  const act = (): void => {
    clock.now += Math.max(0, (letter.runningUntil ?? 0) - clock.wallTime);
    replay(world, letter, begin(world, 'last replay', process));
  };
  return [{ kind: 'option', name: `in the end the letter is replayed at ${process.name}`, act }];
};

function isHanging({ kind, isLost }: Operation): boolean {
  return isLost && isOfLetter(kind);
}

function isMarked({ runningUntil = 0 }: DeadLetter): boolean {
  return runningUntil > clock.wallTime;
}

/** Notes that a call begins. */
export function begin({ calls }: World, name: Call['name'], process: SimulatedProcess): Call {
  const call: Call = { name, process, begunAt: clock.now, isOver: false };
  calls.push(call);
  return call;
}

function replay({ promises }: World, letter: DeadLetter, call: Call): void {
  const { name, process } = call;
  process.run(() => {
    void process.receiver.replay(letter).then(({ outcome }) => {
      call.isOver = true;
      if (outcome !== 'processed' && outcome !== 'duplicate') promises.noteFailed(process);
      if (name === 'last replay') promises.noteLastReplay(outcome);
    });
  });
}

/** A drop rejects if the store fails. */
function drop(letter: DeadLetter, call: Call): void {
  const { process } = call;
  const end = (): void => {
    call.isOver = true;
  };
  process.run(() => void process.receiver.drop(letter).then(end, end));
}

/** The deliveries have failed, and the event is parked. */
export function park({ letters, memory, record }: World): void {
  const now = clock.wallTime;
  for (const token of ['first', 'second']) {
    const request = { id: EVENT.id, token, leaseMs: 1, retentionMs: Number.MAX_SAFE_INTEGER, handled: [] };
    record.claim(memory, request);
    record.release(memory, request);
  }
  const headers = Object.fromEntries(Object.entries(HEADERS).map(([name, value]) => [name, [value]]));
  letters.set(EVENT.id, {
    id: EVENT.id,
    type: EVENT.type,
    reason: 'handler_failed',
    message: 'a handler failed',
    rawBody: BODY,
    headers,
    receivedAt: now,
    parkedAt: now,
    attempts: 2,
    handled: [],
  });
}
