import { repeat, type Walk } from './walk.ts';

/**
 * Leaves out all actions of a walk that its broken promise does not need: halves first, single ones at last.
 */
export async function shrink(failed: Walk): Promise<Walk> {
  let best = await repeat(failed, failed.names);
  // It broke on another way: it cannot be shrunk.
  if (!isAlike(best, failed)) return failed;
  for (let size = Math.ceil(best.names.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = 0; start < best.names.length; ) {
      const names = best.names.toSpliced(start, size);
      const shorter = await repeat(failed, names);
      const isBetter = isAlike(shorter, failed) && shorter.names.length < best.names.length;
      if (isBetter) best = shorter;
      else start += size;
    }
  }
  return best;
}

/** Whether the same promise is broken, in whatever place. */
function isAlike(one: Walk, other: Walk): boolean {
  return one.broken?.promise === other.broken?.promise;
}
