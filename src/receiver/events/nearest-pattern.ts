import { eventTypes } from './catalog.ts';

/** The pattern that was probably meant by a misspelt one; undefined if none is near. */
export function nearestPattern(misspelt: string): string | undefined {
  // A longer text is not near to any pattern, and takes long to compare.
  if (misspelt.length > 2 * LONGEST) return undefined;
  const { text, distance } = nearestOf(misspelt, patterns);
  return distance <= text.length / 5 ? text : undefined;
}

/** The type of the catalog that is nearest to a text, at any distance. */
export function nearestType(text: string): string {
  return nearestOf(text, [...eventTypes]).text;
}

/** The candidate that is nearest to a text, at any distance. */
export function nearestOf(text: string, candidates: readonly string[]): { text: string; distance: number } {
  const distances = candidates.map((each) => ({
    text: each,
    distance: distanceOf(text.toLowerCase(), each),
  }));
  return distances.reduce((best, each) => (each.distance < best.distance ? each : best));
}

const prefixes = [...eventTypes].flatMap((type) => {
  const segments = type.split('.').slice(0, -1);
  return segments.map((_, index) => `${segments.slice(0, index + 1).join('.')}.*`);
});
const patterns: readonly string[] = [...eventTypes, ...new Set(prefixes)];
const LONGEST = Math.max(...patterns.map(({ length }) => length));

/** The number of characters to insert, delete or replace (Levenshtein distance). */
function distanceOf(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, character] of [...from].entries()) {
    const next = [index + 1];
    for (const [column, other] of [...to].entries()) {
      const replaced = (row[column] ?? 0) + (character === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
