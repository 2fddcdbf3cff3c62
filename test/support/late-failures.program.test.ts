import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { packageRoot, startProgram } from './child-program.ts';

const vitest = join(packageRoot, 'node_modules', 'vitest', 'vitest.mjs');
const folder = join('test', 'support', 'late-failures');

/** Runs the tests of a file, which fail; resolves with what Vitest prints. */
async function outputOf(file: string, ...options: readonly string[]): Promise<string> {
  const { PATH, TMPDIR } = process.env;
  const config = join(packageRoot, folder, 'vitest.config.ts');
  const words = ['run', '--config', config, ...options, join(folder, file)];
  const program = startProgram(vitest, { PATH, TMPDIR, NO_COLOR: '1' }, packageRoot, words);
  onTestFinished(() => program.kill('SIGKILL'));
  expect(await program.exit).toBe(1);
  return program.lines.join('\n');
}

test('a failure that nobody handles after the end of its test fails the run, and names the test', async () => {
  const output = await outputOf('failures.late.ts');
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

test('an operation with a time limit that is pending after its test fails that test, and says where it began', async () => {
  const file = join(folder, 'pending.late.ts');
  const output = await outputOf('pending.late.ts', '--maxConcurrency=20');
  expect(output).toMatch(/Tests +11 failed \| 2 passed/);
  // The last frame of each that is not of posthorn's own timers.
  const begun: Readonly<Record<string, string>> = {
    'a claim': 'src/receiver/dedupe/time-limited.ts',
    'a completion': 'src/receiver/dedupe/time-limited.ts',
    'a release': 'src/receiver/dedupe/time-limited.ts',
    'a handler': 'src/receiver/handling/handlers/interruption.ts',
    'a replay': 'src/receiver/handling/handlers/interruption.ts',
    'a job': 'src/receiver/handling/handlers/interruption.ts',
    'an end that waits for a handler': 'src/receiver/receiver.ts',
    'a letter': 'src/stores/postgres/connection.ts',
    'an import of an id': 'src/receiver/dedupe/time-limited.ts',
    'a call of a client': 'src/service/client/secret.ts',
  };
  for (const [name, place] of Object.entries(begun)) {
    const left = `Error: the test "operations > ${name}" of ${file} left an operation pending`;
    const failures = output.split(left).slice(1);
    expect(
      failures.map((failure) => failure.includes(place)),
      name,
    ).toContain(true);
  }
  expect(output).toContain(
    `Error: the test "operations > of which there is none" of ${file} leaves nothing pending, but says that it does`,
  );
});
