import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';

const folder = join(packageRoot, 'examples');

/** Receivers that need more than a module: the bindings of a Worker. And handlers for any receiver. */
const OTHERS = /^(worker-|postgres-clients$)/;

const examples = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !OTHERS.test(entry.name))
  .map(({ name }) => name);

test('each example creates its receiver in a module of its own, for the commands of dead letters', () => {
  expect(examples.length).toBeGreaterThan(14);
  // With several senders each one has a module.
  const modules = [
    'receiver.ts',
    'stripe-receiver.ts',
    'receiver.js',
    'src/receiver.mts',
    'src/lib/server/receiver.js',
  ];
  const exportsReceiver = (path: string): boolean =>
    existsSync(path) && /^export const receiver\b/m.test(readFileSync(path, 'utf8'));
  const without = examples.filter(
    (name) => !modules.some((module) => exportsReceiver(join(folder, name, module))),
  );
  expect(without).toEqual([]);
});

test('each example without a package.json is compiled with the package', () => {
  const { include } = JSON.parse(readFileSync(join(packageRoot, 'tsconfig.json'), 'utf8'));
  const own = examples.filter((name) => !existsSync(join(folder, name, 'package.json')));
  expect(own.length).toBeGreaterThan(4);
  expect(own.filter((name) => !include.includes(`examples/${name}`))).toEqual([]);
});
