/** Header fields in any of the forms that HTTP libraries give them. Names match in any case. */
export type HeaderFields =
  | Iterable<readonly [name: string, value: string]>
  | { readonly [name: string]: string | readonly string[] | undefined };

/** All values of each field, by lower-case name. */
export interface HeaderValues {
  readonly [name: string]: readonly string[] | undefined;
}

/** Gathers the values of each name, so that a field that was sent twice is seen twice. */
export function readHeaders(fields: HeaderFields): HeaderValues {
  const values: Record<string, string[]> = Object.create(null);
  const entries = isIterable(fields) ? fields : Object.entries(fields);
  for (const [name, value] of entries) {
    if (value === undefined) continue;
    const key = name.toLowerCase();
    const added = typeof value === 'string' ? [value] : value;
    const known = values[key];
    if (known === undefined) values[key] = [...added];
    else known.push(...added);
  }
  return values;
}

/** What the values that {@link gatherHeaders} has gathered are known by. Nothing is inherited from it. */
const gathered: HeaderValues = Object.freeze(Object.create(null));

/** The same for names and values by turns, as Node.js gives them. */
export function gatherHeaders(rawHeaders: readonly string[]): HeaderValues {
  const values: Record<string, string[]> = Object.create(gathered);
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = String(rawHeaders[index]).toLowerCase();
    const value = String(rawHeaders[index + 1]);
    const known = values[name];
    if (known === undefined) values[name] = [value];
    else known.push(value);
  }
  return values;
}

/** The same for a delivery, whose adapter has gathered the values: where its names are lower-case, nothing is left to do. */
export function readDeliveryHeaders(headers: HeaderValues): HeaderValues {
  if (Object.getPrototypeOf(headers) === gathered) return headers;
  for (const name in headers) {
    if (name !== name.toLowerCase()) return readHeaders(headers);
  }
  return headers;
}

function isIterable(fields: HeaderFields): fields is Iterable<readonly [string, string]> {
  return Symbol.iterator in fields;
}
