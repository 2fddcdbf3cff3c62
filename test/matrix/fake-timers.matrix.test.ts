import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { linkPackage } from '../support/installed-package.ts';

const jestWith = (config: object): string =>
  `NODE_OPTIONS=--experimental-vm-modules npx jest -i --config '${JSON.stringify({ ...config, testRegex: 'jest.test' })}'`;

const RUNNERS: Readonly<Record<string, string>> = {
  'Jest 30': jestWith({}),
  'Jest 30, enableGlobally': jestWith({ fakeTimers: { enableGlobally: true } }),
  'Vitest 4': 'npx vitest run vitest.test.mjs',
  'mock.timers of node:test': 'node --test node.cjs',
  'Mocha with Sinon': 'npx mocha mocha.cjs',
};

/** These replace the timers of `node:timers`, too. */
const REFUSED = ['mock.timers of node:test', 'Mocha with Sinon'];

const cases = Object.entries(RUNNERS).flatMap(([runner, command]) =>
  ['before', 'after'].flatMap((when) =>
    ['import', 'require'].map((build) => ({ runner, command, when, build })),
  ),
);

test.for(cases)('$runner: fake timers installed $when $build', ({ runner, command, when, build }) => {
  const { project, run } = linkPackage('jest@30', 'mocha@11', 'sinon@21', 'vitest@4');
  cpSync(join(import.meta.dirname, 'projects', 'fake-timers'), project, { recursive: true });
  const printed = run('sh', ['-c', `WHEN=${when} BUILD=${build} ${command} 2>&1`]);
  const isRefused = when === 'before' && REFUSED.includes(runner);
  expect(/outcome: (.*)/.exec(printed)?.[1]).toMatch(
    isRefused ? /^configuration_invalid fake timers .* import posthorn before/ : /^200$/,
  );
});
