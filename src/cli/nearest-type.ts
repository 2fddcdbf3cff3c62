import { eventTypes } from '../events/catalog.ts';

/** The type of the catalog that takes the fewest changes of a character to write, whatever the case. */
export function nearestType(text: string): string {
  const [nearest = ''] = [...eventTypes].sort(
    (one, other) => distance(text.toLowerCase(), one) - distance(text.toLowerCase(), other),
  );
  return nearest;
}

/** How many characters must be put in, taken out or replaced (Levenshtein). */
function distance(from: string, to: string): number {
  let before = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [row, character] of [...from].entries()) {
    const here = [row + 1];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (before[column - 1] ?? 0) + (character === to[column - 1] ? 0 : 1);
      here.push(Math.min(replaced, (before[column] ?? 0) + 1, (here[column - 1] ?? 0) + 1));
    }
    before = here;
  }
  return before.at(-1) ?? 0;
}
