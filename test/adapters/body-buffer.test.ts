import { describe, expect, test } from 'vitest';
import { BodyBuffer } from '../../adapters/body-buffer.ts';

const KIB = 1_024;

/** What a buffer gives after these chunks, and the bytes in memory that it has reported. */
function collect(chunks: readonly Uint8Array[], expectedBytes = 1_024 * KIB) {
  const progress: number[] = [];
  const buffer = new BodyBuffer(expectedBytes, (heldBytes) => progress.push(heldBytes));
  for (const chunk of chunks) buffer.add(chunk);
  return { buffer, progress };
}

describe('the buffer of a body', () => {
  test('gives all chunks in their order, and is empty then', () => {
    const chunks = Array.from({ length: 200 }, (_, index) => Buffer.alloc(KIB, index));
    const { buffer } = collect(chunks);
    expect(buffer.length).toBe(200 * KIB);
    expect(buffer.take()).toEqual(Buffer.concat(chunks));
    expect([buffer.length, buffer.take().length]).toEqual([0, 0]);
  });

  test('keeps no chunk in memory, however large: it may be a slice of much more', () => {
    const chunk = Buffer.alloc(64 * KIB, 'x');
    const bytes = collect([chunk]).buffer.take();
    expect(bytes).toEqual(chunk);
    expect(bytes.buffer).not.toBe(chunk.buffer);
  });

  test('reports all its memory at each chunk, which is at most twice the size of the body', () => {
    const { progress } = collect(Array.from({ length: 200 }, () => Buffer.alloc(KIB)));
    expect(progress).toHaveLength(200);
    progress.forEach((heldBytes, index) => {
      expect(heldBytes).toBeGreaterThanOrEqual((index + 1) * KIB);
      expect(heldBytes).toBeLessThanOrEqual(2 * (index + 1) * KIB);
    });
  });

  test('grows up to the expected length, and beyond it by each chunk', () => {
    const chunks = [Buffer.alloc(10_000), Buffer.alloc(1), Buffer.alloc(7_000)];
    expect(collect(chunks, 16_384).progress).toEqual([10_000, 16_384, 17_001]);
  });
});
