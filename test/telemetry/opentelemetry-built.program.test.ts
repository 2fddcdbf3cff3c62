import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';

test('posthorn/opentelemetry loads as ESM and as CommonJS, where its peer is installed', () => {
  const names = '(exports) => console.log(Object.keys(exports).sort().join())';
  const specifier = 'posthorn/opentelemetry';
  const programs = {
    module: `import('${specifier}').then(${names})`,
    commonjs: `(${names})(require('${specifier}'))`,
  };
  const printed = Object.entries(programs).map(([type, program]) =>
    execFileSync(process.execPath, [`--input-type=${type}`, '-e', program], {
      cwd: packageRoot,
      encoding: 'utf8',
    }).trim(),
  );
  expect(printed).toEqual(Array(2).fill('observeWithOpenTelemetry'));
});
