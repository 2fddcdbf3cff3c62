import type { DeadLetter } from 'posthorn';

/** The letters of a list, all of them. */
export async function readAll(letters: AsyncIterable<DeadLetter>): Promise<DeadLetter[]> {
  const all: DeadLetter[] = [];
  for await (const letter of letters) all.push(letter);
  return all;
}
