import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/**
 * A directory of its own for a test, which is removed with all that is in it when the test is over. Below
 * `parent`, for modules that import this package by its name.
 */
export function temporaryDirectory(parent: string = tmpdir()): string {
  const directory = mkdtempSync(join(parent, 'posthorn-test-'));
  // On Windows a program that has just ended may still have a file open.
  onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  return directory;
}
