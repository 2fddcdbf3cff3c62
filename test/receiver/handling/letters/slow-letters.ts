import type { DeadLetters } from 'posthorn';
import { Seen } from '../../../support/seen.ts';

/** Dead letters that store each letter when the test calls its entry in `putting`. */
export function slowLetters(deadLetters: DeadLetters): {
  readonly slowDeadLetters: DeadLetters;
  readonly putting: Seen<() => void>;
} {
  const putting = new Seen<() => void>();
  const put: DeadLetters['put'] = async (letter) => {
    await new Promise<void>((resolve) => putting.add(resolve));
    await deadLetters.put(letter);
  };
  return { slowDeadLetters: { ...deadLetters, put }, putting };
}
