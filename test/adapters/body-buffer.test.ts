import { describe, expect, test } from 'vitest';
import { BodyBuffer } from '../../adapters/body-buffer.ts';

const KIB = 1_024;

/** A buffer after these chunks, and the bytes in memory that it has reported. */
function collect(chunks: readonly Uint8Array[], maxBytes = 1_024 * KIB) {
  const progress: number[] = [];
  const buffer = new BodyBuffer({ maxBytes, onProgress: (heldBytes) => progress.push(heldBytes) });
  for (const chunk of chunks) buffer.add(chunk);
  return { buffer, progress };
}

describe('the buffer of a body', () => {
  test.each([1, 100, 1_023, 1_024, 1_025, 40_000, 65_536, 200_000])(
    'gives all chunks of %i bytes in their order, and is empty then',
    (chunkBytes) => {
      const chunks = Array.from({ length: 7 }, (_, index) => Buffer.alloc(chunkBytes, index));
      const { buffer } = collect(chunks);
      expect(buffer.length).toBe(7 * chunkBytes);
      // Faster than toEqual, which compares byte by byte.
      expect(Buffer.concat(buffer.take()).equals(Buffer.concat(chunks))).toBe(true);
      expect([buffer.length, buffer.take()]).toEqual([0, []]);
    },
  );

  test('goes on after it was emptied', () => {
    const { buffer } = collect([Buffer.from('one')]);
    buffer.take();
    buffer.add(Buffer.from('two'));
    expect(Buffer.concat(buffer.take()).toString()).toBe('two');
  });

  test('keeps a large chunk as it is, and its place among small ones', () => {
    const large = Buffer.alloc(64 * KIB, 'x');
    const blocks = collect([Buffer.from('a'), large, Buffer.from('b'), Buffer.from('c')]).buffer.take();
    expect(blocks.map(({ length }) => length)).toEqual([1, 64 * KIB, 2]);
    expect(blocks[1]?.buffer).toBe(large.buffer);
    expect(Buffer.concat(blocks).equals(Buffer.concat([Buffer.from('a'), large, Buffer.from('bc')]))).toBe(
      true,
    );
  });

  test('copies a large chunk that is a slice of much more', () => {
    const chunk = Buffer.alloc(129 * KIB, 'x').subarray(0, 64 * KIB);
    const [block] = collect([chunk]).buffer.take();
    expect(block?.equals(chunk)).toBe(true);
    expect(block?.buffer).not.toBe(chunk.buffer);
  });

  test('holds a few times the size of a body that alternates small and large chunks', () => {
    const pairs = Array.from({ length: 50 }, () => [Buffer.from('a'), Buffer.alloc(16 * KIB)]).flat();
    const { buffer, progress } = collect(pairs);
    expect(progress.at(-1)).toBeLessThan(6 * buffer.length);
  });

  test('makes few blocks of chunks of one byte', () => {
    const { buffer } = collect(Array.from({ length: 300 * KIB }, () => Buffer.from('{')));
    expect(buffer.take().length).toBeLessThan(12);
  });

  test('reports all its memory at each chunk: at most twice the size of a small body, and 64 KiB more of a large one', () => {
    const { progress } = collect(Array.from({ length: 500 }, () => Buffer.alloc(KIB)));
    expect(progress).toHaveLength(500);
    progress.forEach((heldBytes, index) => {
      const length = (index + 1) * KIB;
      expect(heldBytes).toBeGreaterThanOrEqual(length);
      expect(heldBytes).toBeLessThanOrEqual(Math.min(2 * length, length + 64 * KIB));
    });
  });

  test('makes no room beyond the longest body', () => {
    const chunks = [Buffer.alloc(10_000), Buffer.alloc(1), Buffer.alloc(7_000)];
    expect(collect(chunks, 16_384).progress).toEqual([10_000, 16_384, 17_001]);
  });
});
