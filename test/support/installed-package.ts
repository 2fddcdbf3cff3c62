import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from './child-program.ts';
import { madeOnce } from './made-once.ts';

/** A project that has the packed package. */
export interface LinkedPackage {
  readonly project: string;
  /** Runs a program in the project, and returns what it prints. */
  readonly run: (command: string, args: readonly string[]) => string;
  readonly remove: () => void;
}

/** The packed package in a project of its own. */
export interface InstalledPackage extends LinkedPackage {
  readonly tarball: string;
  /** What was printed while it was installed. */
  readonly printed: Printed;
}

interface Printed {
  readonly stdout: string;
  readonly stderr: string;
}

interface Packed {
  readonly tarball: string;
  readonly files: readonly string[];
  /** In bytes. */
  readonly unpackedSize: number;
}

/** Packs what is built, once for all tests of a run. */
export function packed(): Packed {
  const folder = madeOnce('packed', (into) => {
    const packing = ['pack', '--json', '--ignore-scripts', '--pack-destination', into];
    writeFileSync(join(into, 'packed.json'), runIn(packageRoot, 'npm', packing));
  });
  const [{ filename, files, unpackedSize }] = JSON.parse(readFileSync(join(folder, 'packed.json'), 'utf8'));
  const paths = files.map(({ path }: { path: string }) => path);
  return { tarball: join(folder, filename), files: paths, unpackedSize };
}

/** Packs what is built, and installs it with `command`, with the tarball in the place of `posthorn`. */
export function installPackage(command = 'npm install posthorn'): InstalledPackage {
  const project = mkdtempSync(join(tmpdir(), 'posthorn-package-'));
  const printed = installInto(project, command);
  return { ...openProject(project), tarball: packed().tarball, printed };
}

/**
 * A project of its own that cannot change its packages: npm installs them, with the packed package, once for
 * all that ask for the same, among them options of npm.
 */
export function linkPackage(...packages: readonly string[]): LinkedPackage {
  const command = ['npm install posthorn', ...packages].join(' ');
  const name = `installed-${createHash('sha256').update(command).digest('hex')}`;
  const installed = madeOnce(name, (folder) => void installInto(folder, command));
  const project = mkdtempSync(join(tmpdir(), 'posthorn-package-'));
  writeFileSync(join(project, 'package.json'), '{"private":true}');
  symlinkSync(join(installed, 'node_modules'), join(project, 'node_modules'));
  return openProject(project);
}

function installInto(project: string, command: string): Printed {
  writeFileSync(join(project, 'package.json'), '{"private":true}');
  const [program = '', ...args] = command.split(' ');
  const installing = args.map((word) => (word === 'posthorn' ? packed().tarball : word));
  // Tests read what npm prints, and `npm run --silent` would hand its own level on.
  const options = [...installing, '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=notice'];
  const { status, stdout, stderr } = spawnSync(program, options, { cwd: project, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} failed:\n${stdout}${stderr}`);
  return { stdout, stderr };
}

function openProject(project: string): LinkedPackage {
  const run = (name: string, words: readonly string[]): string => runIn(project, name, words);
  return { project, run, remove: () => rmSync(project, { recursive: true }) };
}

function runIn(cwd: string, command: string, args: readonly string[]): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
