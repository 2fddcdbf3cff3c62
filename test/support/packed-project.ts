import { execFileSync } from 'node:child_process';

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
