// @ts-check
// Draws mistakes ("mutants") to put into the sources, by a seed: `node tools/mutants/draw.js > tools/mutants/mutants.json`.
// run.js puts them in, one at a time, and says which tests notice. A mutant is kept by the text around it, so that it
// is found again after the code has moved.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const root = join(import.meta.dirname, '../..');
const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: '44' },
    count: { type: 'string', default: '60' },
    // So many of them come out of the rooms in which a mistake costs most.
    core: { type: 'string', default: '10' },
    // Only from these folders.
    in: { type: 'string', multiple: true, default: ['src', 'adapters'] },
  },
});
const CORE = /^src\/receiver\/(handling|dedupe)\//;

/** What a line can have wrong: each turns one place of it into another text. */
const mistakes = [
  { from: / === /g, to: ' !== ' },
  { from: / !== /g, to: ' === ' },
  { from: / <= /g, to: ' < ' },
  { from: / >= /g, to: ' > ' },
  { from: / < /g, to: ' >= ' },
  { from: / > /g, to: ' <= ' },
  { from: / && /g, to: ' || ' },
  { from: / \|\| /g, to: ' && ' },
  { from: / \* /g, to: ' / ' },
  { from: /\bMath\.min\b/g, to: 'Math.max' },
  { from: /\bMath\.max\b/g, to: 'Math.min' },
  { from: /(?<=[=(,] |\breturn )true\b/g, to: 'false' },
  { from: /(?<=[=(,] |\breturn )false\b/g, to: 'true' },
  {
    from: /^(if|\} else if|while) \((.*)\)(?= (?:\{|return|throw|continue|break)\b|\s\{$)/g,
    to: '$1 (!($2))',
  },
  // A step is left out.
  { from: /^(?:(?:await|void) )?[\w$.#?]+\([^;={]*\);$/g, to: '' },
];

/** A line of a type, a comment or an import has nothing to get wrong at run time. */
const NOT_CODE = /^(?:\/\/|\/?\*|import |export type |type |interface |readonly |\| )/;

/** @typedef {{ file: string, find: string, replace: string }} Mutant */

/** @returns {string[]} */
function sources() {
  return options.in.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .sort(),
  );
}

/**
 * The mutants of a file, each with so many lines before it that its place is the only one.
 *
 * @param {string} file
 * @returns {Mutant[]}
 */
function mutantsOf(file) {
  const text = readFileSync(join(root, file), 'utf8');
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    const code = line.trim();
    if (NOT_CODE.test(code)) return [];
    return mistakes.flatMap(({ from, to }) =>
      [...code.matchAll(from)].flatMap((match) => {
        const wrong = to.replace(/\$(\d)/g, (_, group) => match[Number(group)] ?? '');
        const changed = code.slice(0, match.index) + wrong + code.slice(match.index + match[0].length);
        const before = linesBefore(text, lines, index);
        if (before === undefined) return [];
        return [{ file, find: before + code, replace: before + changed }];
      }),
    );
  });
}

/**
 * The lines above that make a line the only one of its text; undefined if five do not.
 *
 * @param {string} text
 * @param {readonly string[]} lines
 * @param {number} index
 */
function linesBefore(text, lines, index) {
  const code = lines[index]?.trim() ?? '';
  for (let count = 0; count <= 5; count++) {
    const before = lines.slice(Math.max(0, index - count), index).map((line) => `${line}\n`);
    const start = before.join('').trimStart();
    const indent = lines[index]?.match(/^\s*/)?.[0] ?? '';
    const whole = count === 0 ? code : start + indent + code;
    if (text.split(whole).length === 2) return whole.slice(0, whole.length - code.length);
  }
  return undefined;
}

/**
 * Numbers from 0 to 1, the same for the same seed (mulberry32).
 *
 * @param {number} seed
 */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = randomNumbers(Number(options.seed));

/**
 * @param {Mutant[]} mutants
 * @param {number} count
 */
function draw(mutants, count) {
  return Array.from({ length: count }, () => mutants.splice(Math.floor(random() * mutants.length), 1)).flat();
}

const all = sources().flatMap(mutantsOf);
const core = all.filter(({ file }) => CORE.test(file));
const others = all.filter(({ file }) => !CORE.test(file));
const [count, coreCount] = [Number(options.count), Number(options.core)];
const drawn = [...draw(core, coreCount), ...draw(others, count - coreCount)];
process.stdout.write(`${JSON.stringify(drawn, null, 2)}\n`);
