/**
 * Resolves once the condition holds; rejects, naming it, if that takes longer than 20 seconds. A function
 * gives the name then, with what has been seen last.
 */
export async function until(
  name: string | (() => string),
  holds: () => boolean | Promise<boolean>,
  limitMs = 20_000,
): Promise<void> {
  const endsAt = performance.now() + limitMs;
  while (!(await holds())) {
    if (performance.now() >= endsAt) {
      throw new Error(`waited ${limitMs} ms in vain: ${typeof name === 'string' ? name : name()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
