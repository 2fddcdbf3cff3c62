import type { TestContext } from 'vitest';

/**
 * Skips a test on systems that lack what it is about. The reason and the name are printed, because a test
 * that is skipped in silence looks like one that passes.
 */
export function skipOn(
  { skip, task }: TestContext,
  systems: readonly NodeJS.Platform[],
  reason: string,
): void {
  if (!systems.includes(process.platform)) return;
  process.stderr.write(`\nNOT RUN on ${process.platform}, ${reason}: ${task.name}\n`);
  skip(reason);
}

/** For tests of the modes of files and directories. */
export function skipWithoutModes(context: TestContext): void {
  skipOn(context, ['win32'], 'which has no modes of files');
}
