import type { TestContext } from 'vitest';

/**
 * Skips a test on a machine that lacks what it is about. The reason and the name are printed, because a test
 * that is skipped in silence looks like one that passes.
 */
export function skipIf({ skip, task }: TestContext, isLacking: boolean, reason: string): void {
  if (!isLacking) return;
  process.stderr.write(`\nNOT RUN here, because ${reason}: ${task.name}\n`);
  skip(reason);
}

/** For what is done in another way on Windows. */
export function skipOnWindows(context: TestContext, reason: string): void {
  skipIf(context, process.platform === 'win32', reason);
}

/** For tests of the modes of files and directories. */
export function skipWithoutModes(context: TestContext): void {
  skipOnWindows(context, 'Windows has no modes of files');
}
