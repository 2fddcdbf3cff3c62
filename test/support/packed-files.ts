import { execFileSync } from 'node:child_process';
import { packageRoot } from './child-program.ts';

/** The paths that `npm publish` would upload, found without building again and without the registry. */
export function packedFiles(): readonly string[] {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const output = execFileSync('npm', args, { cwd: packageRoot, encoding: 'utf8', stdio: 'pipe' });
  const [{ files }] = JSON.parse(output);
  return files.map(({ path }: { path: string }) => path);
}
