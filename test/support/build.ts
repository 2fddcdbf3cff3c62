import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openMadeOnce } from './made-once.ts';

const DONE = Symbol.for('posthorn.tests.build');
const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Builds once before all tests, of however many projects, unless that is done: those of the examples, the
 * README and the package run what is built.
 */
export default function build(): void {
  if (Reflect.has(globalThis, DONE)) return;
  Reflect.set(globalThis, DONE, true);
  openMadeOnce();
  execFileSync(process.execPath, [join(root, 'tools', 'build.js'), '--if-changed'], { stdio: 'inherit' });
}
