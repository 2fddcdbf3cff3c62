import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packed } from './installed-package.ts';

/** Packs what is built, and installs it in an empty project; returns the project's folder. */
export function createPackedProject(): string {
  const project = mkdtempSync(join(tmpdir(), 'posthorn-project-'));
  writeFileSync(join(project, 'package.json'), '{"private":true}');
  npmInstall(project, packed().tarball);
  return project;
}

/** Installs packages of the npm registry in a project, without running their scripts. */
export function npmInstall(project: string, ...packages: readonly string[]): void {
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  try {
    execFileSync('npm', ['install', ...options, ...packages], { cwd: project, stdio: 'pipe' });
  } catch (cause) {
    const stderr = cause instanceof Error && 'stderr' in cause ? String(cause.stderr) : '';
    throw new Error(`the npm registry did not give ${packages.join(', ')}:\n${stderr}`, { cause });
  }
}
