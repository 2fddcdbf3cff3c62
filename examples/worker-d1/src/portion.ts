import { type DeadLetter, DeadLetterError, type DeadLetters } from 'posthorn';

export interface Portion {
  readonly letters: readonly DeadLetter[];
  /** The id after which the next portion begins; null after the last letter. */
  readonly next: string | null;
  /** The error of a letter that cannot be read. */
  readonly damage?: string;
}

/** Reads `limit` dead letters. A list tells of a letter that it cannot read after it has given the others. */
export async function readPortion(
  deadLetters: DeadLetters,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<Portion> {
  const letters: DeadLetter[] = [];
  const next = () => (letters.length < limit ? null : (letters.at(-1)?.id ?? null));
  try {
    for await (const letter of deadLetters.list({ limit, ...(after !== null && { after }) }))
      letters.push(letter);
  } catch (error) {
    if (!(error instanceof DeadLetterError && error.code === 'dead_letter_unreadable')) throw error;
    return { letters, next: next(), damage: error.message };
  }
  return { letters, next: next() };
}
