import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';

test('posthorn/opentelemetry loads as ESM and as CommonJS, where its peer is installed', () => {
  const program = `
    import * as imported from 'posthorn/opentelemetry';
    import { createRequire } from 'node:module';
    const required = createRequire(import.meta.url)('posthorn/opentelemetry');
    for (const exports of [imported, required]) console.log(Object.keys(exports).sort().join());`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: packageRoot,
    encoding: 'utf8',
  });
  expect(printed).toBe('observeWithOpenTelemetry\n'.repeat(2));
});
