import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../support/child-program.ts';
import { removeAtEnd } from '../support/reaper.ts';

/** The program of test/stored-forms/program.mjs, on one version of posthorn. */
export interface Version {
  /** The root of the package. */
  readonly root: string;
  /** The path of the program. */
  readonly program: string;
  /** Removes what was built for it. */
  readonly remove: () => void;
}

const PROGRAM = join(packageRoot, 'test', 'stored-forms', 'program.mjs');

/** The version of the working tree, as it was built before the tests. */
export const today: Version = { root: packageRoot, program: PROGRAM, remove: () => {} };

/** Builds the version of a commit in a folder of its own, with the packages that its lock names. */
export function buildCommit(commit: string): Version {
  checkCommit(commit);
  const root = mkdtempSync(join(tmpdir(), 'posthorn-version-'));
  removeAtEnd(root);
  const run = (command: string, args: readonly string[]): void =>
    void execFileSync(command, args, { cwd: root, stdio: 'pipe' });
  const archive = join(root, 'version.tar');
  git('archive', '--output', archive, commit);
  run('tar', ['-xf', archive]);
  if (areInstalled(root)) symlinkSync(join(packageRoot, 'node_modules'), join(root, 'node_modules'));
  else run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']);
  run('npm', ['run', 'build']);
  const program = join(root, 'stored-forms.mjs');
  copyFileSync(PROGRAM, program);
  return { root, program, remove: () => rmSync(root, { recursive: true, force: true }) };
}

/** Returns true if the working tree has each package that the lock of a folder names, in the same version. */
function areInstalled(root: string): boolean {
  const [named, installed] = [root, packageRoot].map(
    (folder) => JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')).packages,
  );
  return Object.keys(named).every((path) => named[path].integrity === installed[path]?.integrity);
}

/** Without this the test would fail in a clone that was made with `--depth`, and not say why. */
function checkCommit(commit: string): void {
  try {
    git('cat-file', '-e', `${commit}^{commit}`);
  } catch (cause) {
    throw new Error(
      `the commit ${commit} is not in this clone, so its version cannot be built: run "git fetch --unshallow"; ` +
        'a workflow must check out the whole history (fetch-depth: 0)',
      { cause },
    );
  }
}

/** In a container the clone may belong to another user, which git refuses by default. */
function git(...args: readonly string[]): void {
  execFileSync('git', ['-c', 'safe.directory=*', ...args], { cwd: packageRoot, stdio: 'pipe' });
}
