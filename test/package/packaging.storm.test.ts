import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';
import { packInto } from '../support/installed-package.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

test('attw finds nothing wrong with the types of the package, in any setting of modules', async () => {
  const tarball = packInto(temporaryDirectory());
  const attw = join(packageRoot, 'node_modules', '.bin', 'attw');
  expect(execFileSync(attw, [tarball], { encoding: 'utf8', stdio: 'pipe' })).toContain('No problems found');
});
