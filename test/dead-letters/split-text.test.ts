import { expect, test } from 'vitest';
import { splitText } from '../../src/dead-letters/split-text.ts';

test('a text is split into parts that fit, between its characters', () => {
  const text = 'aé€💶'.repeat(10);
  for (let mostBytes = 4; mostBytes < 110; mostBytes += 1) {
    const parts = splitText(text, mostBytes);
    expect(parts.length === 0 ? text : parts.join('')).toBe(text);
    for (const part of parts) expect(Buffer.byteLength(part)).toBeLessThanOrEqual(mostBytes);
    expect(parts.length === 0).toBe(mostBytes >= 100);
    // No part is shorter than it must be: a character has four bytes at most.
    for (const part of parts.slice(0, -1)) expect(Buffer.byteLength(part)).toBeGreaterThan(mostBytes - 4);
  }
});
