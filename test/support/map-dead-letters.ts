import type { DeadLetter, DeadLetters } from 'posthorn';

/** Dead letters that are kept in a map, where durability is not what is tested. */
export function createMapDeadLetters(letters: Map<string, DeadLetter> = new Map()): DeadLetters {
  // A list goes on after a dead letter that is gone.
  const removed = new Map<string, DeadLetter>();
  return {
    put: async (letter) => void letters.set(letter.id, letter),
    get: async (id) => letters.get(id),
    remove: async (id) => {
      const letter = letters.get(id);
      if (letter !== undefined) removed.set(id, letter);
      return letters.delete(id);
    },
    async *list({ after, limit } = {}) {
      const known = [...new Map([...removed, ...letters]).values()];
      known.sort((one, other) => one.parkedAt - other.parkedAt);
      const start = known.findIndex(({ id }) => id === after) + 1;
      const present = known.slice(start).filter(({ id }) => letters.has(id));
      yield* present.slice(0, limit);
    },
  };
}
