import { type DeadLetter, DeadLetterError, type DeadLetters } from 'posthorn';

export interface Portion {
  readonly found: readonly DeadLetter[];
  /** The id after which the next portion begins; null after the last dead letter. */
  readonly next: string | null;
  /** The error of a dead letter that cannot be read. */
  readonly damage?: string;
}

/** Reads some dead letters. A list rejects for one that it cannot read, but gives the others first. */
export async function readPortion(
  deadLetters: DeadLetters,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<Portion> {
  const found: DeadLetter[] = [];
  const next = () => (found.length < limit ? null : (found.at(-1)?.id ?? null));
  const options = { limit, ...(after !== null && { after }) };
  try {
    for await (const deadLetter of deadLetters.list(options)) found.push(deadLetter);
  } catch (error) {
    if (!(error instanceof DeadLetterError && error.code === 'dead_letter_unreadable')) throw error;
    return { found, next: next(), damage: error.message };
  }
  return { found, next: next() };
}
