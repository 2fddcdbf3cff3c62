import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { packageRoot, startProgram } from '../support/child-program.ts';
import { startedBy } from '../support/started-by.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const STEADY = join(packageRoot, 'tools', 'steady', 'run.js');

/** A project whose layers are these scripts of npm. */
async function project(scripts: Readonly<Record<string, string>>): Promise<string> {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', scripts }));
  return folder;
}

async function steady(folder: string, ...args: readonly string[]) {
  const TMPDIR = temporaryDirectory();
  const program = startProgram(STEADY, { PATH: process.env.PATH, HOME: TMPDIR, TMPDIR }, folder, args);
  return { code: await program.exit, lines: program.lines, left: readdirSync(TMPDIR) };
}

const rows = (lines: readonly string[]): readonly string[] =>
  lines.filter((line) => line.startsWith('|')).slice(2);

/** Passes at its first run only: it leaves a file beside it. Takes enough of any processor to be measured. */
const FAILS_LATER = `
while (process.cpuUsage().user < 1_000_000);
import { existsSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
const isFirst = !existsSync('was-here');
writeFileSync('was-here', '');
test('always passes', () => {});
test('is the first | to come', async () => {
  if (!isFirst) setImmediate(() => void Promise.reject(new Error('nobody waits for it')));
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  expect(isFirst).toBe(true);
});`;

test('test:steady lists what fails at a later run, and an error that no test waits for', async () => {
  const folder = await project({ test: 'vitest run' });
  symlinkSync(join(packageRoot, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'later.test.js'), FAILS_LATER);
  const { code, lines, left } = await steady(folder, '--times', '3', '--busy', '1', '--bail');
  expect(lines.filter((line) => line.startsWith('run '))).toEqual([
    expect.stringMatching(/^run 1: 2 passed, 0 failed, \d+ s, [1-9]\d* s of processor time$/),
    expect.stringMatching(/^run 2: 1 passed, 2 failed, \d+ s, [1-9]\d* s of processor time$/),
  ]);
  // The output of the run that failed.
  expect(lines.join('\n')).toContain('Test Files  1 failed (1)');
  expect(rows(lines)).toEqual([
    '| 1 | later.test.js | is the first \\| to come | expected false to be true // Object.is equality |',
    '| 1 | later.test.js | (unhandled error during or after: is the first \\| to come) | nobody waits for it |',
  ]);
  expect(code).toBe(1);
  expect(left).not.toContainEqual(expect.stringContaining('posthorn-steady'));
});

/** In the place of Vitest: leaves a report with a failure, and prints its arguments. */
const LEAVES_REPORT = `
import { writeFileSync } from 'node:fs';
const failures = [{ file: 'some.test.ts', test: 'some test', message: 'some message' }];
writeFileSync(process.env.STEADY_REPORT, JSON.stringify({ passed: 7, failures }));
console.log(process.argv.slice(2).join(' '));`;

test('test:steady counts how often a test fails, and looks for files in all layers', async () => {
  const folder = await project({ 'test:all': 'node vitest.js' });
  writeFileSync(join(folder, 'vitest.js'), LEAVES_REPORT);
  const { code, lines } = await steady(folder, '--times', '2', '--busy', '0', 'one.test.ts', 'other.test.ts');
  expect(lines).toContainEqual(
    expect.stringMatching(/^--reporter=default .* one\.test\.ts other\.test\.ts$/),
  );
  expect(rows(lines)).toEqual(['| 2 | some.test.ts | some test | some message |']);
  expect(code).toBe(1);
});

/** A script that leaves a report, ends with a code, and takes no notice of its arguments. */
const leaves = (report: object, code: number): string =>
  `echo '${JSON.stringify(report)}' > $STEADY_REPORT; sh -c 'exit ${code}'`;

test.each([
  {
    name: 'leaves no report',
    script: 'true',
    row: '| 1 | (the run) |  | ended with 0, and left no report |',
  },
  {
    name: 'has no test',
    script: leaves({ passed: 0, failures: [] }, 0),
    row: '| 1 | (the run) |  | no test has run |',
  },
  {
    name: 'fails outside of its tests',
    script: leaves({ passed: 7, failures: [] }, 3),
    row: '| 1 | (the run) |  | ended with 3 |',
  },
])('test:steady fails if a run $name', async ({ script, row }) => {
  const folder = await project({ 'test:storms': script });
  const { code, lines } = await steady(folder, '--times', '1', '--busy', '0', '--layer', 'storms');
  expect(rows(lines)).toEqual([row]);
  expect(code).toBe(1);
});

test('test:steady succeeds if nothing fails, and prints no table', async () => {
  const folder = await project({ test: leaves({ passed: 7, failures: [] }, 0) });
  const { code, lines } = await steady(folder, '--times', '2', '--busy', '0');
  expect(lines.map((line) => line.replace(/\d+ s/g, 'some s'))).toEqual([
    'run 1: 7 passed, 0 failed, some s, some s of processor time',
    'run 2: 7 passed, 0 failed, some s, some s of processor time',
  ]);
  expect(code).toBe(0);
});

/** Prints how much longer it takes than its processor time, and on how many cores it runs. */
const RATIO = `
const begunAt = performance.now();
while (process.cpuUsage().user < 300_000);
const ratio = (performance.now() - begunAt) / (process.cpuUsage().user / 1_000);
console.log('ratio ' + ratio + ' on ' + require('node:os').availableParallelism());`;

const ratioIn = (lines: readonly string[]): number => {
  const [, ratio] = /^ratio ([\d.]+) on/m.exec(lines.join('\n')) ?? [];
  return Number(ratio);
};

test('test:steady --cores 1 --slow runs on one core, and has a fifth of its time', async () => {
  const folder = await project({ test: `node ratio.cjs; ${leaves({ passed: 7, failures: [] }, 1)}` });
  writeFileSync(join(folder, 'ratio.cjs'), RATIO);
  const { lines } = await steady(folder, '--times', '1', '--busy', '0', '--cores', '1', '--slow');
  expect(lines[0]).toMatch(/^slowed to a fifth by (a cgroup|SIGSTOP in turns)$/);
  expect(lines.join('\n')).toMatch(/^ratio [\d.]+ on 1$/m);
  expect(ratioIn(lines)).toBeGreaterThan(2);
});

test('a group that is stopped in turns has a fifth of its time, and runs once that ends', async () => {
  const work = `setTimeout(() => {}, 600_000); process.stdin.once('data', () => {${RATIO}});`;
  const group = spawn(process.execPath, ['-e', work], { detached: true });
  const stopping = spawn(process.execPath, [join(STEADY, '..', 'stop-in-turns.js'), String(group.pid)]);
  await until('the group is stopped', () =>
    execFileSync('ps', ['-o', 'stat=', '-p', String(group.pid)], { encoding: 'utf8' }).startsWith('T'),
  );
  group.stdin.write('begin');
  const [line] = await once(createInterface(group.stdout), 'line');
  expect(ratioIn([line])).toBeGreaterThan(2);
  stopping.stdin.end();
  // SIGTERM ends only a process that runs.
  expect(await once(group, 'exit')).toEqual([null, 'SIGTERM']);
});

/** The numbers of the busy loops that run as children of a process. */
function busyLoops(pid: number): readonly number[] {
  const output = execFileSync('ps', ['-A', '-o', 'pid=', '-o', 'ppid=', '-o', 'args='], { encoding: 'utf8' });
  return output.split('\n').flatMap((line) => {
    const [own, parent] = line.trim().split(/\s+/).map(Number);
    return own !== undefined && parent === pid && line.includes('function spin') ? [own] : [];
  });
}

test('the busy loops of test:steady end with it, even if it is killed', async () => {
  const folder = await project({ test: 'sleep 600' });
  const child = spawn(process.execPath, [STEADY, '--busy', '3'], { cwd: folder, stdio: 'ignore' });
  const { pid = 0 } = child;
  let loops: readonly number[] = [];
  await until('three loops spin', () => {
    loops = busyLoops(pid);
    return loops.length === 3;
  });
  // The run of the tests, which knows nothing of its end.
  const others = startedBy(pid).filter((one) => !loops.includes(one));
  onTestFinished(() => {
    for (const one of others) kill(one, 'SIGKILL');
  });
  child.kill('SIGKILL');
  await once(child, 'exit');
  await until('the loops have ended', () => loops.every((one) => !kill(one, 0)));
});

/** Whether the process was there. */
function kill(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

test.each([
  { args: ['--times', 'often'], message: '--times must be a whole number, not often.' },
  {
    args: ['--layer', 'storm'],
    message: '--layer must be one of test, quick, programs, storms, matrix, all, not storm.',
  },
  { args: ['--often'], message: "Unknown option '--often'" },
])('test:steady refuses $args', async ({ args, message }) => {
  const { code, lines } = await steady(packageRoot, ...args);
  expect(lines.join('\n')).toContain(message);
  expect(code).toBe(2);
});
