import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from './child-program.ts';
import { madeOnce } from './made-once.ts';

/** The packed package in a project of its own. */
export interface InstalledPackage {
  readonly project: string;
  readonly tarball: string;
  /** What was printed while it was installed. */
  readonly printed: { readonly stdout: string; readonly stderr: string };
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
  const { tarball } = packed();
  writeFileSync(join(project, 'package.json'), '{"private":true}');
  const [program = '', ...args] = command.split(' ');
  const installing = args.map((word) => (word === 'posthorn' ? tarball : word));
  const run = (name: string, words: readonly string[]): string => runIn(project, name, words);
  const options = [...installing, '--no-audit', '--no-fund', '--prefer-offline'];
  const { status, ...printed } = spawnSync(program, options, { cwd: project, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} failed:\n${printed.stdout}${printed.stderr}`);
  return { project, tarball, printed, run, remove: () => rmSync(project, { recursive: true }) };
}

function runIn(cwd: string, command: string, args: readonly string[]): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
