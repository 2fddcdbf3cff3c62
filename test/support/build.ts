import { execSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const DONE = Symbol.for('posthorn.tests.build');

/**
 * Builds once before all tests, of however many projects: those of the examples, the README and the package
 * run what is built.
 */
export default function build(): void {
  if (Reflect.has(globalThis, DONE)) return;
  Reflect.set(globalThis, DONE, true);
  // By a shell: on Windows npm is a script.
  execSync('npm run --silent build', {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: 'inherit',
  });
}
