/** Header fields in any of the forms that HTTP libraries give them. Names match in any case. */
export type HeaderFields =
  | Iterable<readonly [name: string, value: string]>
  | { readonly [name: string]: string | readonly string[] | undefined };

/** All values of each field, by lower-case name. */
export type HeaderValues = ReadonlyMap<string, readonly string[]>;

/** Gathers the values of each name, so that a field that was sent twice is seen twice. */
export function readHeaders(fields: HeaderFields): HeaderValues {
  const values = new Map<string, string[]>();
  const entries = isIterable(fields) ? fields : Object.entries(fields);
  for (const [name, value] of entries) {
    if (value === undefined) continue;
    const key = name.toLowerCase();
    const known = values.get(key);
    if (known === undefined) values.set(key, typeof value === 'string' ? [value] : [...value]);
    else known.push(...(typeof value === 'string' ? [value] : value));
  }
  return values;
}

function isIterable(fields: HeaderFields): fields is Iterable<readonly [string, string]> {
  return Symbol.iterator in fields;
}
