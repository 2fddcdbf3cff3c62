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

type FieldValue = string | readonly string[] | undefined;

/** Collects all values of each name, so that a field that was sent twice is seen twice. */
export function readHeaders(fields: HeaderFields): HeaderValues {
  const values: Record<string, string[]> = Object.create(null);
  if (isAlternating(fields)) {
    for (let index = 0; index + 1 < fields.length; index += 2)
      addField(values, fields[index] ?? '', fields[index + 1]);
  } else {
    const pairs: Iterable<readonly [string, FieldValue]> = isIterable(fields)
      ? fields
      : Object.entries(fields);
    for (const [name, value] of pairs) addField(values, name, value);
  }
  return values;
}

function addField(values: Record<string, string[]>, name: string, value: FieldValue): void {
  if (value === undefined) return;
  const key = name.toLowerCase();
  const known = values[key];
  if (known === undefined) values[key] = typeof value === 'string' ? [value] : [...value];
  else if (typeof value === 'string') known.push(value);
  else known.push(...value);
}

function isAlternating(fields: HeaderFields): fields is readonly string[] {
  return Array.isArray(fields) && typeof fields[0] === 'string';
}

function isIterable(fields: HeaderFields): fields is Iterable<readonly [string, string]> {
  return Symbol.iterator in fields;
}
