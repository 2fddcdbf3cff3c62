/** Returns true for an origin as browsers write it. Apps and extensions have others, which are opaque. */
export function isOrigin(value: unknown): value is string {
  return typeof value === 'string' && URL.canParse(value) && new URL(value).origin === value;
}
