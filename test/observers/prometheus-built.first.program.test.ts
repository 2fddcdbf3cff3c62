import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';

function run(...args: readonly string[]): string {
  return execFileSync(process.execPath, args, { cwd: packageRoot, encoding: 'utf8' }).trim();
}

test('posthorn/prometheus loads as ESM and as CommonJS, and both know the same default register', () => {
  const program = `
    const { createReceiver } = await import('posthorn');
    const built = await import('posthorn/prometheus');
    const { createRequire } = await import('node:module');
    const required = createRequire(import.meta.url)('posthorn/prometheus');
    console.log(Object.keys(built).join(), Object.keys(required).join());
    required.observeWithPrometheus(createReceiver({ signingKey: 'k' }));
    try { built.observeWithPrometheus(createReceiver({ signingKey: 'k' })); }
    catch ({ name }) { console.log(name); }`;
  expect(run('--input-type=module', '-e', program)).toBe(
    'observeWithPrometheus observeWithPrometheus\nConfigurationError',
  );
});

test('its types need no types of prom-client', () => {
  const types = readFileSync(
    join(packageRoot, 'dist', 'src', 'observers', 'prometheus', 'index.d.ts'),
    'utf8',
  );
  // The examples in the comments import it.
  const statements = types.replace(/^\s*\*.*$/gm, '');
  expect(statements.match(/(?<=from ')[^']+/g)).toEqual([
    '../../receiver/health/health.ts',
    '../../receiver/outcomes/report.ts',
  ]);
});
