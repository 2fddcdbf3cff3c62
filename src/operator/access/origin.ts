/** True for an origin as browsers write it. That of an app or an extension is opaque: `new URL` gives "null". */
export function isOrigin(value: unknown): value is string {
  return typeof value === 'string' && URL.canParse(value) && new URL(value).origin === value;
}
