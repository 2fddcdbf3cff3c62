import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from './child-program.ts';

/** The packed package in a project of its own. */
export interface InstalledPackage {
  readonly project: string;
  readonly tarball: string;
  /** Runs a program in the project, and returns what it prints. */
  readonly run: (command: string, args: readonly string[]) => string;
  readonly remove: () => void;
}

/** Packs what is built into a folder; returns the path of the tarball. */
export function packInto(folder: string): string {
  const packing = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  return join(folder, JSON.parse(runIn(packageRoot, 'npm', packing))[0].filename);
}

/** Packs what is built, and installs it with `command`, with the tarball in the place of `posthorn`. */
export function installPackage(command = 'npm install posthorn'): InstalledPackage {
  const project = mkdtempSync(join(tmpdir(), 'posthorn-package-'));
  const tarball = packInto(project);
  writeFileSync(join(project, 'package.json'), '{"private":true}');
  const [program = '', ...args] = command.split(' ');
  const installing = args.map((word) => (word === 'posthorn' ? tarball : word));
  const run = (name: string, words: readonly string[]): string => runIn(project, name, words);
  run(program, [...installing, '--no-audit', '--no-fund', '--prefer-offline']);
  return { project, tarball, run, remove: () => rmSync(project, { recursive: true }) };
}

function runIn(cwd: string, command: string, args: readonly string[]): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
