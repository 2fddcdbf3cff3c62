import fc from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 };

/**
 * Any character for `fc.string`, as its `unit: 'binary'` gives them. That one fills a table of a million
 * characters first, which takes a second.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 0x10_ffff - SURROGATES.count })
  .map(
    (index) => String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count),
    // For the names such as `__proto__` that fast-check mixes in.
    (character) => {
      const point = typeof character === 'string' ? character.codePointAt(0) : undefined;
      if (point === undefined || String.fromCodePoint(point) !== character)
        throw new Error('not one character');
      return point < SURROGATES.first ? point : point - SURROGATES.count;
    },
  );
