import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from './child-program.ts';

/** Packs what is built, and installs it in an empty project; returns the project's folder. */
export function createPackedProject(): string {
  const project = mkdtempSync(join(tmpdir(), 'posthorn-project-'));
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', project];
  const output = execFileSync('npm', args, { cwd: packageRoot, encoding: 'utf8', stdio: 'pipe' });
  writeFileSync(join(project, 'package.json'), '{"private":true}');
  npmInstall(project, join(project, JSON.parse(output)[0].filename));
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
