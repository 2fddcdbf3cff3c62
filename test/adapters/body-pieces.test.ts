import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { BodyPieces } from '../../adapters/body-pieces.ts';

const KIB = 1_024;

/** The pieces of a body that arrives as these chunks, and the bytes in memory that were told of it. */
async function piecesOf(chunks: readonly Buffer[], maxBytes = 1_024 * KIB) {
  const progress: number[] = [];
  const { signal } = new AbortController();
  const onProgress = (heldBytes: number): void => void progress.push(heldBytes);
  const pieces: Buffer[] = [];
  const body = new BodyPieces(Readable.from(chunks), { maxBytes, signal, onProgress });
  for await (const piece of body) pieces.push(piece);
  return { pieces, progress };
}

test.each([
  { name: 'all of its memory', length: 32 * KIB, memory: 32 * KIB, isKept: true },
  { name: 'half of its memory', length: 32 * KIB, memory: 64 * KIB, isKept: true },
  { name: 'less than half of its memory', length: 32 * KIB - 1, memory: 64 * KIB, isKept: false },
  { name: 'all of its memory, and 16 KiB', length: 16 * KIB, memory: 16 * KIB, isKept: true },
  { name: 'all of its memory, and less than 16 KiB', length: 16 * KIB - 1, memory: 16 * KIB, isKept: false },
])('a chunk that is $name: kept as it is: $isKept', async ({ length, memory, isKept }) => {
  const chunk = Buffer.alloc(memory, 'x').subarray(0, length);
  const { pieces } = await piecesOf([chunk]);
  expect(Buffer.concat(pieces)).toEqual(chunk);
  expect(pieces.map(({ buffer }) => buffer === chunk.buffer)).toEqual([isKept]);
});

test('small chunks become few pieces, in their order; at each of them all memory is told of', async () => {
  const chunks = Array.from({ length: 200 }, (_, index) => Buffer.alloc(KIB, index));
  const { pieces, progress } = await piecesOf(chunks);
  expect(Buffer.concat(pieces)).toEqual(Buffer.concat(chunks));
  expect(pieces.length).toBeLessThanOrEqual(4);
  expect(progress).toHaveLength(200);
  progress.forEach((heldBytes, index) => {
    expect(heldBytes).toBeGreaterThanOrEqual((index + 1) * KIB);
    expect(heldBytes).toBeLessThanOrEqual(2 * (index + 1) * KIB);
  });
});

test('the whole buffer of a body is told of, which grows up to the longest body', async () => {
  const { progress } = await piecesOf([Buffer.alloc(10_000), Buffer.alloc(1)], 16_384);
  expect(progress).toEqual([10_000, 16_384]);
});
