import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pageFiles as operatorFiles } from '../../src/operator/page/files.ts';
import { pageFiles as sandboxFiles } from '../../src/service/sandbox/page/routes.ts';
import { packageRoot } from '../support/child-program.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const compilation = {
  compilerOptions: {
    allowJs: true,
    checkJs: true,
    strict: true,
    noUnusedLocals: true,
    noUnusedParameters: true,
    noEmit: true,
    target: 'ES2024',
    lib: ['ES2024', 'DOM', 'DOM.Iterable'],
    module: 'ES2022',
    moduleResolution: 'bundler',
    types: [],
  },
  include: ['*.js'],
};

const pages = [
  { of: 'sandbox', files: sandboxFiles, script: 'page.js', icon: 'icon.svg' },
  { of: 'operator', files: operatorFiles, script: '/page/page.js', icon: '/page/icon.svg' },
] as const;

describe.each(pages)('the page of the $of', ({ files, icon, script }) => {
  test('has a script that agrees with the types of the DOM', () => {
    const directory = temporaryDirectory(join(packageRoot, 'dist'));
    // A file with an export is a module, as the page loads it.
    writeFileSync(join(directory, 'page.js'), `${files.get(script)?.text}\nexport {};\n`);
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(compilation));
    const tsc = join(packageRoot, 'node_modules', '.bin', 'tsc');
    execFileSync(tsc, ['-p', directory], { stdio: 'inherit' }); // it prints which line is wrong
  });

  test('makes no markup or code out of text', () => {
    for (const [name, { text }] of files) {
      expect(text, name).not.toMatch(
        /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function/,
      );
    }
  });

  test('loads nothing from outside', () => {
    const addresses = [...files].flatMap(([name, { text }]) =>
      (text.match(/https?:\/\/[^\s'"<`]+/g) ?? []).map((address) => `${name} ${address}`),
    );
    // The name of a format, which nobody loads.
    expect(addresses).toEqual([`${icon} http://www.w3.org/2000/svg`]);
  });
});

test.each([
  { name: 'sandbox-light', width: 1_600 },
  { name: 'sandbox-dark', width: 400 },
  { name: 'sandbox-parked', width: 734 },
  { name: 'operator-light', width: 1_200 },
  { name: 'operator-dark', width: 400 },
])('the picture $name is $width px wide, and small', ({ name, width }) => {
  const png = readFileSync(join(packageRoot, 'docs', 'images', `${name}.png`));
  // PNG, section 11.2.1: the width stands after the signature and the head of the first chunk.
  expect(png.readUInt32BE(16)).toBe(width);
  expect(png.length).toBeLessThan(150_000);
});
