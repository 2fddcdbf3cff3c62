import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { packageRoot, startProgram } from './child-program.ts';

const vitest = join(packageRoot, 'node_modules', 'vitest', 'vitest.mjs');
const folder = join('test', 'support', 'late-failures');

test('a failure that nobody handles after the end of its test fails the run, and names the test', async () => {
  const { PATH, TMPDIR } = process.env;
  const config = join(packageRoot, folder, 'vitest.config.ts');
  const program = startProgram(vitest, { PATH, TMPDIR, NO_COLOR: '1' }, packageRoot, [
    'run',
    '--config',
    config,
  ]);
  onTestFinished(() => program.kill('SIGKILL'));
  expect(await program.exit).toBe(1);
  const output = program.lines.join('\n');
  expect(output).toMatch(/Tests +4 passed/);
  const left = output.match(/nobody handled a failure .*/g);
  const leftBy = (test: string) =>
    `nobody handled a failure that the test "${test}" of ${join(folder, 'failures.late.ts')} left behind`;
  expect(left).toEqual([
    `${leftBy('a rejection > with an error')}`,
    `${leftBy('a rejection > with something that is no error')}: 'rejected by the second'`,
    `${leftBy('an exception that nobody can catch')}`,
  ]);
  // What has failed, too.
  expect(output).toMatch(/Caused by: Error: rejected by the first/);
  expect(output).toMatch(/Caused by: Error: thrown by the third/);
});
