import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { packageRoot } from './child-program.ts';

/** A copy of what is built, in a project that has its dependencies and nothing else. */
export interface CopiedPackage {
  readonly project: string;
  /** The folder of the copy. */
  readonly root: string;
  readonly remove: () => void;
}

/** Without npm, which takes seconds: test/package/packaging.program.test.ts packs and installs. */
export function copyPackage(): CopiedPackage {
  const project = mkdtempSync(join(tmpdir(), 'posthorn-copy-'));
  const modules = join(project, 'node_modules');
  const root = join(modules, 'posthorn');
  mkdirSync(root, { recursive: true });
  writeFileSync(join(project, 'package.json'), '{"private":true}');
  for (const path of ['dist/src', 'dist/adapters', 'dist/cjs', 'package.json']) {
    cpSync(join(packageRoot, path), join(root, path), { recursive: true });
  }
  for (const name of Object.keys(manifest.dependencies)) {
    symlinkSync(join(packageRoot, 'node_modules', name), join(modules, name));
  }
  return { project, root, remove: () => rmSync(project, { recursive: true }) };
}
