import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Builds once before all tests: those of the examples, the README and the package run what is built. */
export default function build(): void {
  execFileSync('npm', ['run', '--silent', 'build'], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: 'inherit',
  });
}
