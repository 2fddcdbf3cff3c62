import type { DeadLetter, DeadLetters } from 'posthorn';

/** Dead letters that are kept in a map, where durability is not what is tested. */
export function createMapDeadLetters(letters: Map<string, DeadLetter> = new Map()): DeadLetters {
  return {
    put: async (letter) => void letters.set(letter.id, letter),
    get: async (id) => letters.get(id),
    remove: async (id) => letters.delete(id),
    async *list() {
      yield* [...letters.values()].sort((one, other) => one.parkedAt - other.parkedAt);
    },
  };
}
