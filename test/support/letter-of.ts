import type { DeadLetter, DeadLetters } from 'posthorn';

/** The letter of an event that is known to be parked. */
export async function letterOf(deadLetters: DeadLetters, id: string): Promise<DeadLetter> {
  const letter = await deadLetters.get(id);
  if (letter === undefined) throw new Error(`no letter of ${id}`);
  return letter;
}
