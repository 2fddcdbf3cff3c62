import { LetterOperations } from '../../src/receiver/dead-letters/letter-operations.ts';

const waits = new WeakMap<LetterOperations, number>();
const { ended } = LetterOperations.prototype;

/** The number of functions that wait for operations on a letter: a suspended function cannot be read. */
export function waitsFor(operations: LetterOperations): number {
  return waits.get(operations) ?? 0;
}

/** The promise is the same one, so that nothing is later than without the count. */
LetterOperations.prototype.ended = function (id: string): Promise<void> {
  const promise = ended.call(this, id);
  waits.set(this, waitsFor(this) + 1);
  void promise.then(() => waits.set(this, waitsFor(this) - 1));
  return promise;
};
