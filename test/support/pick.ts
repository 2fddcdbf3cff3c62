/** One of several, at random. */
export function pick<T>(among: readonly T[]): T {
  const picked = among[Math.floor(Math.random() * among.length)];
  if (picked === undefined) throw new Error('there is nothing to pick');
  return picked;
}
