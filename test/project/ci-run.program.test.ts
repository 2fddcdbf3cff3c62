import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot, startCommand } from '../support/child-program.ts';
import { replacePath, writeScript } from '../support/replaced-path.ts';

/** Writes down its calls, and runs no script: one that has a report leaves it, and some fail. */
const NPM = `#!/usr/bin/env node
const { appendFileSync, writeFileSync } = require('node:fs');
const [command, script, ...rest] = process.argv.slice(2);
appendFileSync(process.env.CALLS, [command, script].join(' ') + '\\n');
const { report, fails } = JSON.parse(process.env.SCRIPTS)[script] ?? {};
const file = rest.find((argument) => argument.startsWith('--outputFile.json='))?.split('=')[1];
if (report !== undefined) writeFileSync(file, JSON.stringify(report));
process.exitCode = fails ? 1 : 0;
`;

interface Script {
  readonly report?: object;
  readonly fails?: boolean;
}

/** What a run of `.ci/run` prints last, with this `npm` in place of the real one. */
async function run(scripts: Readonly<Record<string, Script>>) {
  const PATH = replacePath(['bash', 'node', 'dirname', 'mktemp', 'touch', 'rm']);
  writeScript(join(PATH, 'npm'), NPM);
  const CALLS = join(PATH, 'calls');
  const env = { PATH, CALLS, SCRIPTS: JSON.stringify(scripts) };
  const { exit, lines } = startCommand('bash', [join(packageRoot, '.ci', 'run')], env, packageRoot);
  const code = await exit;
  return { code, lines, last: lines.at(-1), calls: readFileSync(CALLS, 'utf8').trim().split('\n') };
}

const assertionResults = [{ status: 'pending', fullName: 'a full disk' }];
const test7 = { success: true, numPassedTests: 7, numFailedTests: 0, testResults: [{ assertionResults }] };
const good = {
  test: { report: test7 },
  'test:programs': { report: { ...test7, numPassedTests: 4 } },
  'test:storms': { report: { ...test7, numPassedTests: 3 } },
  'test:matrix': { report: { ...test7, numPassedTests: 2 } },
};
const checks = [
  'run test',
  'run lint',
  'run types',
  'run test:programs',
  'run test:storms',
  'run test:matrix',
];

test('.ci/run installs the packages, runs every check, and sums the reports', async () => {
  const { code, lines, last, calls } = await run(good);
  expect(calls).toEqual(['ci --no-audit', ...checks]);
  expect(lines).toContain('SKIPPED: a full disk');
  const times = lines.filter((line) => line.endsWith('of processor time'));
  expect(times).toEqual(checks.map((check) => expect.stringMatching(new RegExp(`^npm ${check}: \\d+ s, `))));
  expect(last).toBe('16 passed, 0 failed');
  expect(code).toBe(0);
});

const failure = {
  status: 'failed',
  fullName: 'a full inbox',
  failureMessages: ['Error: expected 1 to be 2'],
};
const failed = {
  ...test7,
  success: false,
  numFailedTests: 3,
  testResults: [{ assertionResults: [failure] }],
};

test('.ci/run names what has failed once more, after all that it ran', async () => {
  const { lines } = await run({ ...good, test: { report: failed, fails: true } });
  expect(lines.slice(-6)).toEqual([
    'FAILED: a full inbox',
    'Error: expected 1 to be 2',
    'SKIPPED: a full disk',
    'SKIPPED: a full disk',
    'SKIPPED: a full disk',
    '16 passed, 3 failed',
  ]);
});

test.each([
  {
    name: 'tests fail',
    scripts: { ...good, test: { report: failed, fails: true } },
    last: '16 passed, 3 failed',
  },
  { name: 'tests pass and the run fails', scripts: { ...good, test: { report: test7, fails: true } } },
  { name: 'no test runs', scripts: { ...good, test: { fails: true } }, last: '9 passed, 1 failed' },
  {
    name: 'a report has no test',
    scripts: { ...good, test: { report: { success: true } } },
    last: '9 passed, 1 failed',
  },
  {
    name: 'a storm fails',
    scripts: { ...good, 'test:storms': { report: { ...failed, numPassedTests: 1 }, fails: true } },
    last: '14 passed, 3 failed',
  },
  {
    name: 'the matrix leaves no report',
    scripts: { ...good, 'test:matrix': {} },
    last: '14 passed, 1 failed',
  },
  { name: 'the style is wrong', scripts: { ...good, lint: { fails: true } } },
  { name: 'a type is wrong', scripts: { ...good, types: { fails: true } } },
])(
  '.ci/run runs every check, and fails, if $name',
  async ({ scripts, last: expected = '16 passed, 1 failed' }) => {
    const { code, last, calls } = await run(scripts);
    expect(calls.slice(1)).toEqual(checks);
    expect(last).toBe(expected);
    expect(code).toBe(1);
  },
);
