/** A pause at random between half of `ms` and all of it: those that wait do not all come back at once. */
export function jittered(ms: number): number {
  return ms * (0.5 + Math.random() / 2);
}
