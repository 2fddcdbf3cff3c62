/** Returns a random pause between half of `ms` and all of it, so that not all callers come back at once. */
export function jittered(ms: number): number {
  return ms * (0.5 + Math.random() / 2);
}
