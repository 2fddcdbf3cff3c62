/** Returns true if a well-formed pattern matches a type. */
export function matchesPattern(pattern: string, type: string): boolean {
  return (
    pattern === '*' || pattern === type || (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1)))
  );
}

const TYPE_FORM = /^[^\s/*]{1,255}$/;

/** Returns true for a text that can be a pattern, whatever the types of the sender are. */
export function isPatternForm(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  return value === '*' || TYPE_FORM.test(value.endsWith('.*') ? value.slice(0, -2) : value);
}
