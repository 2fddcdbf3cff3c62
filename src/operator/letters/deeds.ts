import type { DeadLetter, DeadLetters } from '../../receiver/dead-letters/dead-letters.ts';
import { settledWithin } from '../../receiver/timing/time-limit.ts';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import { type DeedResult, type DeedTime, failedDeed } from '../deed.ts';
import type { OperatedReceiver } from '../operated-receiver.ts';

type Receiver = OperatedReceiver['receiver'];

/** Does a deed on a dead letter, which may be gone by now. Never rejects. */
export async function onLetter(
  deadLetters: DeadLetters,
  id: string,
  act: (letter: DeadLetter) => Promise<Omit<DeedResult, 'id' | 'type'>>,
): Promise<DeedResult> {
  let type: string | undefined;
  try {
    const letter = await deadLetters.get(id);
    if (letter === undefined) return { id, outcome: 'missing' };
    type = letter.type;
    return { id, type, ...(await act(letter)) };
  } catch (error) {
    return failedDeed(id, type, error);
  }
}

/** Replays a dead letter. One whose handlers take longer than the request goes on without it. */
export async function replayLetter(
  receiver: Receiver,
  letter: DeadLetter,
  time: DeedTime,
): Promise<Omit<DeedResult, 'id' | 'type'>> {
  const report = await settledWithin(receiver.replay(letter), time.leftMs);
  if (report === undefined) return { outcome: 'running' };
  const { code, error, outcome } = report;
  return { outcome, code, message: error && messageOf(error) };
}

/** Drops a dead letter, unless its event may be running or was handled meanwhile. */
export async function dropLetter(
  receiver: Receiver,
  letter: DeadLetter,
  deadLetters: DeadLetters,
): Promise<Omit<DeedResult, 'id' | 'type'>> {
  if (await receiver.drop(letter)) return { outcome: 'dropped' };
  const isStillThere = (await deadLetters.get(letter.id)) !== undefined;
  return { outcome: isStillThere ? 'running' : 'missing' };
}
