/**
 * Header fields in any of the forms that HTTP libraries give them: an object by name, pairs
 * (as `Headers` and `Map` have them), or a list in which names and values alternate
 * (`rawHeaders` of Node.js). Names match in any case.
 */
export type HeaderFields =
  | { readonly [name: string]: string | readonly string[] | undefined }
  | Iterable<readonly [name: string, value: string]>
  | readonly string[];

/** All values of each field, by lower-case name. */
export interface HeaderValues {
  readonly [name: string]: readonly string[] | undefined;
}

/** Collects all values of each name, so that a field that was sent twice is seen twice. */
export function readHeaders(fields: HeaderFields): HeaderValues {
  const values: Record<string, string[]> = Object.create(null);
  for (const [name, value] of pairsOf(fields)) {
    if (value === undefined) continue;
    const key = name.toLowerCase();
    const added = typeof value === 'string' ? [value] : value;
    const known = values[key];
    if (known === undefined) values[key] = [...added];
    else known.push(...added);
  }
  return values;
}

type Pair = readonly [name: string, value: string | readonly string[] | undefined];

function pairsOf(fields: HeaderFields): Iterable<Pair> {
  if (isAlternating(fields)) return alternatingPairs(fields);
  return isIterable(fields) ? fields : Object.entries(fields);
}

function isAlternating(fields: HeaderFields): fields is readonly string[] {
  return Array.isArray(fields) && typeof fields[0] === 'string';
}

function alternatingPairs(fields: readonly string[]): Pair[] {
  const pairs: Pair[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2)
    pairs.push([fields[index] ?? '', fields[index + 1]]);
  return pairs;
}

function isIterable(fields: HeaderFields): fields is Iterable<readonly [string, string]> {
  return Symbol.iterator in fields;
}
