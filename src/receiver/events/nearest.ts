/** The candidate that is nearest to a text, at any distance. */
export function nearestOf(text: string, candidates: readonly string[]): { text: string; distance: number } {
  const distances = candidates.map((each) => ({
    text: each,
    distance: distanceOf(text.toLowerCase(), each),
  }));
  return distances.reduce((best, each) => (each.distance < best.distance ? each : best));
}

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
