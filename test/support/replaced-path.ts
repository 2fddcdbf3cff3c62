import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { findProgram } from '../../tools/programs.js';
import { temporaryDirectory } from './temporary-directory.ts';

/** Until the test ends, puts a folder in the place of PATH, with links to some programs of the system. */
export function replacePath(programs: readonly string[]): string {
  const folder = temporaryDirectory();
  for (const name of programs) symlinkSync(findProgram(name) ?? '', join(folder, name));
  vi.stubEnv('PATH', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder;
}

/** Writes a program whose first line names its interpreter. */
export function writeScript(path: string, ...lines: readonly string[]): void {
  writeFileSync(path, `${lines.join('\n')}\n`);
  chmodSync(path, 0o755);
}
