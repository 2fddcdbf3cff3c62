import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { packageRoot, startProgram } from './child-program.ts';
import { until } from './until.ts';

const vitest = join(packageRoot, 'node_modules', 'vitest', 'vitest.mjs');
const config = join(packageRoot, 'test', 'support', 'unfinished', 'vitest.config.ts');
/** What a busy machine takes for one step of a run: it starts Vitest, and three servers. */
const LIMIT_MS = 100_000;

describe('a run of tests with servers that stand still', () => {
  /** Runs test/support/unfinished, whose folders are those of its own. */
  function run(end: 'fail' | 'hang' | 'wait') {
    const folder = mkdtempSync(join(tmpdir(), 'unfinished-'));
    // PostgreSQL runs as a user of its own.
    chmodSync(folder, 0o711);
    const { PATH } = process.env;
    const env = { PATH, TMPDIR: folder, END: end, NO_COLOR: '1' };
    const program = startProgram(vitest, env, packageRoot, ['run', '--config', config]);
    onTestFinished(() => program.kill('SIGKILL'));
    return { ...program, folder };
  }

  /** What runs of it, once nothing moves any more. */
  async function processesOf({ line }: ReturnType<typeof run>): Promise<number[]> {
    const [, pids = ''] = (await line(/^stand still: /)).split(': ');
    const processes = pids.split(' ').map(Number);
    // Redis, the program, the reaper, and PostgreSQL with what it has started.
    expect(processes.length).toBeGreaterThan(8);
    return processes;
  }

  test('leaves nothing behind, and shows nothing but the failure, if a test fails', async () => {
    const running = run('fail');
    const processes = await processesOf(running);
    expect(await running.exit).toBe(1);
    const output = running.lines.join('\n');
    expect(output).toContain("expected 'the real failure' to be 'none'");
    // The test after it.
    expect(output).toMatch(/Tests +1 failed \| 1 passed/);
    expect(output).not.toMatch(/Hook timed out|Unhandled|Uncaught/);
    await expectNothingLeft(processes, running.folder);
  });

  test.each([
    { end: 'hang', signal: 'SIGINT' },
    { end: 'hang', signal: 'SIGTERM' },
    { end: 'hang', signal: 'SIGKILL' },
    { end: 'wait', signal: 'SIGKILL' },
  ] as const)(
    'leaves nothing behind if $signal ends it, in a test that would $end',
    async ({ end, signal }) => {
      const running = run(end);
      const processes = await processesOf(running);
      let hasEnded = false;
      void running.exit.then(() => (hasEnded = true));
      // At first Vitest waits for the test that hangs; asked again it does not.
      const endsByNow = (): boolean => {
        running.kill(signal);
        return hasEnded;
      };
      await until('the run ends', endsByNow, LIMIT_MS);
      await expectNothingLeft(processes, running.folder);
    },
  );
});

/** Those that have not ended: some systems keep the number of one that has. */
function stillRunning(processes: readonly number[]): string[] {
  const output = execFileSync('ps', ['-A', '-o', 'pid=', '-o', 'stat=', '-o', 'args='], { encoding: 'utf8' });
  return output.split('\n').filter((line) => {
    const [pid, state = ''] = line.trim().split(/\s+/);
    return processes.includes(Number(pid)) && !state.startsWith('Z');
  });
}

/** Vitest itself makes some with other names. */
function foldersIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith('posthorn-'));
}

async function expectNothingLeft(processes: readonly number[], folder: string): Promise<void> {
  let left: string[] = [];
  const isNothingLeft = (): boolean => {
    left = [...stillRunning(processes), ...foldersIn(folder)];
    return left.length === 0;
  };
  await until(() => `nothing is left: ${left.join(', ')}`, isNothingLeft, LIMIT_MS);
}
