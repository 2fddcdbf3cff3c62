import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { installPackage } from '../support/installed-package.ts';

test('a project that forces an older zod on posthorn cannot load it, and learns why', () => {
  const { project, run, remove } = installPackage();
  onTestFinished(remove);
  const pinned = { ...JSON.parse(run('cat', ['package.json'])), overrides: { zod: '4.1.12' } };
  writeFileSync(join(project, 'package.json'), JSON.stringify(pinned));
  run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', '--force']);
  const needed = manifest.dependencies.zod.replace('^', '');
  for (const load of ["import('posthorn')", "(async () => require('posthorn'))()"]) {
    const script = `${load}.catch(({ code, message }) => console.log(code, message))`;
    expect(run('node', ['-e', script])).toBe(
      `configuration_invalid posthorn needs zod ${needed} or later, and finds 4.1.12: take zod out of the overrides or resolutions of package.json\n`,
    );
  }
});
