/**
 * Sixteen pairs in a row. Whichever of a pair is taken, the 32-bit FNV-1a hash of what stands before leads to
 * the same next one; a search of some seconds has found them.
 */
const PAIRS = [
  ['h9Gc', 'THad'],
  ['O0Cc', 'sAad'],
  ['Q9Cc', 'MHad'],
  ['Q9Cc', 'MHad'],
  ['Q9Cc', 'MHad'],
  ['Q9Cc', 'MHad'],
  ['Q9Cc', 'MHad'],
  ['Q9Cc', 'MHad'],
  ['Q9Cc', 'MHad'],
  ['Q9Cc', 'MHad'],
  ['Q9Cc', 'MHad'],
  ['Q9Cc', 'MHad'],
  ['Q9Cc', 'MHad'],
  ['Q9Cc', 'MHad'],
  ['Q9Cc', 'MHad'],
  ['Q9Cc', 'MHad'],
];

/**
 * Ids that all have one hash (FNV-1a), of 64 characters: the longest that a store keeps as they are.
 *
 * @param {number} count at most 65,536
 * @returns {string[]}
 */
export function collidingIds(count) {
  return Array.from({ length: count }, (_, number) =>
    // Joined, as a string that was only concatenated would share its parts.
    PAIRS.map((pair, index) => pair[(number >>> index) & 1]).join(''),
  );
}
