import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';
import { packed } from '../support/installed-package.ts';

test('attw finds nothing wrong with the types of the package, in any setting of modules', async () => {
  const attw = join(packageRoot, 'node_modules', '.bin', 'attw');
  expect(execFileSync(attw, [packed().tarball], { encoding: 'utf8', stdio: 'pipe' })).toContain(
    'No problems found',
  );
});
