/**
 * Bytes in use after a collection of all garbage: the heap, and what lies outside of it in typed arrays and
 * buffers.
 */
export function usedBytes() {
  if (globalThis.gc === undefined) throw new Error('start it with node --expose-gc');
  // The first collection can leave finalizers that free more.
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

export const inMegabytes = (/** @type {number} */ bytes) => `${(bytes / 1_048_576).toFixed(1)} MB`;
