// @ts-check
// Puts each mutant of mutants.json into the sources and runs the tests that are nearest to it, until one fails:
// `npm run mutants -- [--only 1,2,3] [--first 10]`. Prints a table. Leave the checkout alone while it runs.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    first: { type: 'string' },
    // Another checkout, for instance of an earlier commit, and its names of the layers.
    checkout: { type: 'string', default: join(import.meta.dirname, '../..') },
    quick: { type: 'string', default: 'quick' },
    slow: { type: 'string', default: 'first,program,storm,matrix' },
  },
});
const root = options.checkout;

/** A mutant that makes the tests hang is noticed as well. */
const LIMIT_MS = 900_000;

/** @typedef {{ file: string, find: string, replace: string }} Mutant */

/** @returns {string[]} */
function sources() {
  return ['src', 'adapters'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name}`),
  );
}

/**
 * Where a mutant's text stands today: in its file, or in another if it has moved; white space does not count.
 *
 * @param {Mutant} mutant
 */
function place({ file, find, replace }) {
  const escaped = find
    .trim()
    .split(/\s+/)
    .map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  const pattern = new RegExp(escaped.join('\\s+'), 'g');
  for (const candidate of [file, ...sources()]) {
    if (!existsSync(join(root, candidate))) continue;
    const text = readFileSync(join(root, candidate), 'utf8');
    if ((text.match(pattern) ?? []).length === 1) {
      return { file: candidate, text, mutated: text.replace(pattern, () => replace) };
    }
  }
  return undefined;
}

/**
 * The tests to run, the nearest first: quick ones of the room, all of the room, all quick ones.
 *
 * @param {string} file
 */
function stagesOf(file) {
  let folder = join('test', dirname(file).replace(/^src\/?/, ''));
  while (!existsSync(join(root, folder))) folder = dirname(folder);
  const slow = options.slow.split(',').flatMap((name) => ['--project', name]);
  return [
    ...(folder !== 'test'
      ? [
          { name: 'room, quick', args: ['--project', options.quick, folder] },
          { name: 'room', args: [...slow, folder] },
        ]
      : []),
    { name: 'all quick', args: ['--project', options.quick] },
  ];
}

/**
 * Runs tests until one fails; resolves with the file of the failure and its title. The limit ends the workers of
 * Vitest as well: an endless loop in one of them would go on without it.
 *
 * @param {readonly string[]} args
 */
async function firstFailure(args) {
  const run = spawn(
    'npx',
    ['vitest', 'run', '--bail', '1', '--passWithNoTests', '--reporter=dot', '--no-color', ...args],
    { cwd: root, detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const limit = setTimeout(() => process.kill(-Number(run.pid), 'SIGKILL'), LIMIT_MS);
  const outputs = Promise.all([text(run.stdout), text(run.stderr)]);
  const [code, signal] = await once(run, 'close');
  clearTimeout(limit);
  if (signal !== null) return { title: 'no end' };
  if (code === 0) return undefined;
  const output = (await outputs).join('');
  if (/Command failed: .*build\.js/.test(output)) return { title: 'does not compile' };
  const [, file, title] = /FAIL .*?(test\/\S+\.ts)(?: > )?(.*)/.exec(output) ?? [];
  return file === undefined
    ? { title: 'an error outside of the tests' }
    : { file, title: `${file} > ${title}` };
}

/**
 * The stage that notices what is in the sources now. A file that does not fail again, alone, has failed by chance.
 *
 * @param {string} file
 */
async function firstToNotice(file) {
  for (const { name, args } of stagesOf(file)) {
    const begunAt = performance.now();
    const failure = await firstFailure(args);
    if (failure === undefined) continue;
    const seconds = Math.round((performance.now() - begunAt) / 1_000);
    const projects = args.filter((argument) => !argument.startsWith('test/'));
    const again = failure.file === undefined ? failure : await firstFailure([...projects, failure.file]);
    if (again !== undefined) return { stage: name, seconds, by: again.title.slice(0, 120) };
    print(`failed by chance: ${failure.title}`);
  }
  return undefined;
}

/** @param {string} line */
function print(line) {
  process.stdout.write(`${line}\n`);
}

/** @type {Mutant[]} */
const mutants = JSON.parse(readFileSync(join(import.meta.dirname, 'mutants.json'), 'utf8'));
const wanted = options.only?.split(',').map(Number);
print('| mutant | file | change | noticed by | seconds | first test |');
print('| --- | --- | --- | --- | --- | --- |');
for (const [index, mutant] of mutants.entries()) {
  const number = index + 1;
  if (wanted !== undefined && !wanted.includes(number)) continue;
  if (number > Number(options.first ?? mutants.length)) break;
  const found = place(mutant);
  const change = `\`${mutant.find.split('\n').at(-1)?.trim()}\` → \`${mutant.replace.split('\n').at(-1)?.trim()}\``;
  if (found === undefined) {
    print(`| ${number} | ${mutant.file} | ${change} | its text is gone | | |`);
    continue;
  }
  writeFileSync(join(root, found.file), found.mutated);
  try {
    const { stage, seconds, by } = (await firstToNotice(found.file)) ?? {
      stage: '**nothing**',
      seconds: '',
      by: '',
    };
    print(`| ${number} | ${found.file} | ${change} | ${stage} | ${seconds} | ${by} |`);
  } finally {
    writeFileSync(join(root, found.file), found.text);
  }
}
