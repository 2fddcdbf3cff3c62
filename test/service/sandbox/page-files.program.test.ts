import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pageFiles } from '../../../src/service/sandbox/page/routes.ts';
import { packageRoot } from '../../support/child-program.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

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

test("the page's script agrees with the types of the DOM", () => {
  const directory = temporaryDirectory(join(packageRoot, 'dist'));
  // A file with an export is a module, as the page loads it.
  writeFileSync(join(directory, 'page.js'), `${pageFiles.get('page.js')?.text}\nexport {};\n`);
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(compilation));
  const tsc = join(packageRoot, 'node_modules', '.bin', 'tsc');
  execFileSync(tsc, ['-p', directory], { stdio: 'inherit' }); // it prints which line is wrong
});

test('no script makes markup or code out of text', () => {
  for (const [name, { text }] of pageFiles) {
    expect(text, name).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function/,
    );
  }
});

test('nothing of the page comes from outside', () => {
  const addresses = [...pageFiles].flatMap(([name, { text }]) =>
    (text.match(/https?:\/\/[^\s'"<`]+/g) ?? []).map((address) => `${name} ${address}`),
  );
  // The name of a format, which nobody loads.
  expect(addresses).toEqual(['icon.svg http://www.w3.org/2000/svg']);
});

test.each([
  { name: 'sandbox-light', width: 1_600 },
  { name: 'sandbox-dark', width: 400 },
])('the picture $name.png is $width px wide, and small', ({ name, width }) => {
  const png = readFileSync(join(packageRoot, 'docs', 'images', `${name}.png`));
  // PNG, section 11.2.1: the width stands after the signature and the head of the first chunk.
  expect(png.readUInt32BE(16)).toBe(width);
  expect(png.length).toBeLessThan(150_000);
});
