import { relative } from 'node:path';
import { aroundEach } from 'vitest';
import { type PendingOperation, RunningTest, tests } from './running-test.ts';

// An operation with a time limit that is unanswered when its test ends would fail a minute later, in whatever
// test then runs. Here it fails its own.

/** The time that operations have to end after their test. It passes only if they do not end. */
const SETTLE_MS = 15_000;

/** The pauses between two looks: longer and longer, because most have ended by the first. */
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 200;

/** A line of a stack, other than those of the timers themselves. */
const FRAME = /^ +at (?!.*\/(?:registered-timer|time-limit)\.ts)/;

/** The originals, because tests stop the timers of their process. */
const { setTimeout, setImmediate, clearTimeout } = globalThis;

aroundEach((runTest, { task }) => {
  const file = relative(process.cwd(), task.file.filepath);
  const test = new RunningTest(`${JSON.stringify(task.fullTestName)} of ${file}`);
  return tests.run(test, async () => {
    await runTest();
    const { leavesPendingWhy: why } = test;
    const leftNone = test.pending.size === 0;
    test.end();
    if (why === undefined) await untilNonePending(test);
    for (const timeout of test.timeouts) clearTimeout(timeout);
    if (why === undefined && test.pending.size > 0) throw failureOf(test);
    if (why !== undefined && leftNone)
      throw new Error(`the test ${test.name} leaves nothing pending, but says that it does: ${why}`);
  });
});

async function untilNonePending({ pending }: RunningTest): Promise<void> {
  let pauseMs = FIRST_PAUSE_MS;
  for (let waitedMs = 0; waitedMs < SETTLE_MS; waitedMs += pauseMs) {
    // The end of one operation may begin another.
    if (pending.size === 0) await new Promise((resolve) => setImmediate(resolve));
    if (pending.size === 0) return;
    await pause(pauseMs);
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

/** One error for each place in which operations began. */
function failureOf({ name, pending }: RunningTest): Error {
  const failures = new Map<string, Error>();
  for (const operation of pending) {
    const failure = pendingError(name, operation);
    failures.set(failure.stack, failure);
  }
  return new AggregateError(failures.values());
}

function pendingError(name: string, { limitMs, begun }: PendingOperation): Error & { stack: string } {
  const left = `left an operation pending that has a time limit of ${limitMs} ms, and began here`;
  const error = new Error(`the test ${name} ${left}`);
  const frames = begun.stack?.split('\n').filter((line) => FRAME.test(line)) ?? [];
  return Object.assign(error, { stack: [`Error: ${error.message}`, ...frames].join('\n') });
}
