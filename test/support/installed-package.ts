import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from './child-program.ts';
import { madeOnce } from './made-once.ts';

/** The packed package in a project of its own. */
export interface InstalledPackage {
  readonly project: string;
  readonly tarball: string;
  /** Runs a program in the project, and returns what it prints. */
  readonly run: (command: string, args: readonly string[]) => string;
  readonly remove: () => void;
}

/** Packs what is built, once for all tests of a run. */
export function packed(): { readonly tarball: string; readonly files: readonly string[] } {
  const folder = madeOnce('packed', (into) => {
    const packing = ['pack', '--json', '--ignore-scripts', '--pack-destination', into];
    writeFileSync(join(into, 'packed.json'), runIn(packageRoot, 'npm', packing));
  });
  const [{ filename, files }] = JSON.parse(readFileSync(join(folder, 'packed.json'), 'utf8'));
  return { tarball: join(folder, filename), files: files.map(({ path }: { path: string }) => path) };
}

/** Packs what is built, and installs it with `command`, with the tarball in the place of `posthorn`. */
export function installPackage(command = 'npm install posthorn'): InstalledPackage {
  const project = mkdtempSync(join(tmpdir(), 'posthorn-package-'));
  installInto(project, command);
  return installedIn(project);
}

/**
 * A project of its own that cannot change its packages: npm installs them, with the packed package, once for all
 * that ask for the same, among them options of npm.
 */
export function linkPackage(...packages: readonly string[]): InstalledPackage {
  const command = ['npm install posthorn', ...packages].join(' ');
  const name = `installed-${createHash('sha256').update(command).digest('hex')}`;
  const installed = madeOnce(name, (folder) => installInto(folder, command));
  const project = mkdtempSync(join(tmpdir(), 'posthorn-package-'));
  writeFileSync(join(project, 'package.json'), '{"private":true}');
  symlinkSync(join(installed, 'node_modules'), join(project, 'node_modules'));
  return installedIn(project);
}

function installInto(project: string, command: string): void {
  writeFileSync(join(project, 'package.json'), '{"private":true}');
  const [program = '', ...args] = command.split(' ');
  const installing = args.map((word) => (word === 'posthorn' ? packed().tarball : word));
  runIn(project, program, [...installing, '--no-audit', '--no-fund', '--prefer-offline']);
}

function installedIn(project: string): InstalledPackage {
  const run = (name: string, words: readonly string[]): string => runIn(project, name, words);
  return { project, tarball: packed().tarball, run, remove: () => rmSync(project, { recursive: true }) };
}

function runIn(cwd: string, command: string, args: readonly string[]): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
