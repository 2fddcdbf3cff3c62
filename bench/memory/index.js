/**
 * Memory benchmarks by subject: `heap`, `claims`, `duplicates`, `soak`; all of them by default. Options follow
 * a single subject.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const subjects = ['heap', 'claims', 'duplicates', 'soak'];
const [wanted, ...options] = process.argv.slice(2);

for (const subject of subjects.filter((name) => wanted === undefined || name === wanted)) {
  const program = fileURLToPath(new URL(`${subject}.js`, import.meta.url));
  const { status } = spawnSync(process.execPath, ['--expose-gc', program, ...options], { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
