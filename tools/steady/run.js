// @ts-check
// Runs a layer of tests, or files, again and again beside busy loops, and lists what failed and how often:
// `npm run test:steady -- [--times 5] [--busy 4] [--cores 1] [--slow] [--layer test] [--bail] [files]`. Needs a POSIX
// shell, and Linux for `--cores`.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { slowness } from './slow.js';

/** By the name of a layer, its script in package.json. */
const SCRIPTS = /** @type {const} */ ({
  test: 'test',
  quick: 'test:quick',
  programs: 'test:programs',
  storms: 'test:storms',
  matrix: 'test:matrix',
  all: 'test:all',
});

/** Takes all of a core, in turns, so that it sees the end of its input: it ends with whatever started it. */
const BUSY_LOOP = `
process.stdin.resume().on('end', () => process.exit());
function spin() {
  for (const endsAt = Date.now() + 50; Date.now() < endsAt; );
  setImmediate(spin);
}
spin();`;

/** Runs its arguments, and writes to descriptor 3 what they and all that they waited for took of the processor. */
const MEASURE = '"$@"; code=$?; times >&3; exit $code';

/**
 * What ./reporter.js writes.
 *
 * @typedef {{ readonly file: string, readonly test: string, readonly message: string }} Failure
 * @typedef {{ readonly passed: number, readonly failures: readonly Failure[] }} Report
 */

/** @returns {never} */
function refuse(/** @type {string} */ message) {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        times: { type: 'string', default: '5' },
        busy: { type: 'string', default: '4' },
        layer: { type: 'string' },
        cores: { type: 'string' },
        slow: { type: 'boolean', default: false },
        bail: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    return refuse(String(error));
  }
}

/** @returns {number} */
function wholeNumber(/** @type {string} */ name, /** @type {string} */ value) {
  return /^\d+$/.test(value) ? Number(value) : refuse(`--${name} must be a whole number, not ${value}.`);
}

/** Files are looked for in all layers, unless one is named. */
function scriptOf(/** @type {string | undefined} */ layer, /** @type {readonly string[]} */ files) {
  const name = layer ?? (files.length > 0 ? 'all' : 'test');
  if (name in SCRIPTS) return SCRIPTS[/** @type {keyof typeof SCRIPTS} */ (name)];
  return refuse(`--layer must be one of ${Object.keys(SCRIPTS).join(', ')}, not ${name}.`);
}

/** The words that put a command, and all that it starts, on so many cores. */
function coresOf(/** @type {string | undefined} */ cores) {
  if (cores === undefined) return [];
  const count = wholeNumber('cores', cores);
  return count > 0 ? ['taskset', '-c', `0-${count - 1}`] : refuse('--cores must be 1 or more, not 0.');
}

/** User and system time of what the shell has waited for: the second line of `times`, such as `1m2.5s 0m3s`. */
function processorSeconds(/** @type {string} */ times) {
  const [, ofChildren = ''] = times.split('\n');
  const parts = Array.from(ofChildren.matchAll(/(\d+)m([\d.]+)s/g), ([, minutes, seconds]) => {
    return Number(minutes) * 60 + Number(seconds);
  });
  return parts.reduce((sum, part) => sum + part, 0);
}

/** @returns {Report} */
function readReport(/** @type {string} */ path, /** @type {number | null} */ code) {
  const outside = (/** @type {string} */ message) => ({ file: '(the run)', test: '', message });
  try {
    /** @type {Report} */
    const report = JSON.parse(readFileSync(path, 'utf8'));
    const { passed, failures } = report;
    if (failures.length > 0 || (code === 0 && passed > 0)) return report;
    return { passed, failures: [outside(passed === 0 ? 'no test has run' : `ended with ${code}`)] };
  } catch {
    return { passed: 0, failures: [outside(`ended with ${code}, and left no report`)] };
  }
}

/** One run of the tests. Its whole output goes into a file. */
async function runOnce(/** @type {readonly string[]} */ files, /** @type {string} */ folder) {
  const report = join(folder, 'report.json');
  const times = join(folder, 'times');
  rmSync(report, { force: true });
  const descriptors = [openSync(join(folder, 'output'), 'w'), openSync(times, 'w')];
  const [output = 0, timesOutput = 0] = descriptors;
  const reporters = ['--reporter=default', `--reporter=${join(import.meta.dirname, 'reporter.js')}`];
  const command = ['npm', 'run', script, '--', ...reporters, ...files];
  const begunAt = performance.now();
  const [program = '', ...words] = [
    ...onCores,
    ...(slow?.prefix ?? []),
    'sh',
    '-c',
    MEASURE,
    'sh',
    ...command,
  ];
  const child = spawn(program, words, {
    detached: slow?.needsGroup === true,
    stdio: ['ignore', output, output, timesOutput],
    env: { ...process.env, NO_COLOR: '1', STEADY_REPORT: report },
  });
  const end = slow?.begin(Number(child.pid));
  const [code] = await once(child, 'close');
  end?.();
  for (const descriptor of descriptors) closeSync(descriptor);
  return {
    ...readReport(report, code),
    seconds: Math.round((performance.now() - begunAt) / 1_000),
    processor: Math.round(processorSeconds(readFileSync(times, 'utf8'))),
  };
}

function print(/** @type {string} */ line) {
  process.stdout.write(`${line}\n`);
}

/** What failed, the most frequent first, with the first message of each. */
function printTable(/** @type {readonly Failure[]} */ failures, /** @type {number} */ runs) {
  /** @type {Map<string, Failure & { count: number }>} */
  const rows = new Map();
  for (const failure of failures) {
    const key = JSON.stringify([failure.file, failure.test]);
    const row = rows.get(key) ?? { ...failure, count: 0 };
    rows.set(key, { ...row, count: row.count + 1 });
  }
  const cell = (/** @type {string} */ text) => text.replaceAll('|', '\\|');
  print(`\n| failed in ${runs} runs | file | test | message |\n| --- | --- | --- | --- |`);
  for (const { count, file, test, message } of [...rows.values()].sort(
    (one, other) => other.count - one.count,
  )) {
    print(`| ${[count, file, test, message].map(String).map(cell).join(' | ')} |`);
  }
}

const { values: options, positionals: files } = readArguments();
const times = wholeNumber('times', options.times);
const script = scriptOf(options.layer, files);
const onCores = coresOf(options.cores);
const slow = options.slow ? slowness(Number(options.cores ?? availableParallelism())) : undefined;
if (slow) print(`slowed to a fifth by ${slow.name}`);
for (let count = wholeNumber('busy', options.busy); count > 0; count -= 1) {
  // Its input is a pipe that is closed when this process ends, however it ends.
  const [program = '', ...words] = [...onCores, process.execPath, '-e', BUSY_LOOP];
  spawn(program, words, { stdio: ['pipe', 'ignore', 'inherit'] });
}
const folder = mkdtempSync(join(tmpdir(), 'posthorn-steady-'));
/** @type {Failure[]} */
const failures = [];
let runs = 0;
while (runs < times && !(options.bail && failures.length > 0)) {
  runs += 1;
  const run = await runOnce(files, folder);
  failures.push(...run.failures);
  const failed = run.failures.length;
  print(
    `run ${runs}: ${run.passed} passed, ${failed} failed, ${run.seconds} s, ${run.processor} s of processor time`,
  );
  if (failed > 0) print(readFileSync(join(folder, 'output'), 'utf8'));
}
rmSync(folder, { recursive: true });
if (failures.length > 0) printTable(failures, runs);
process.exit(failures.length > 0 ? 1 : 0);
