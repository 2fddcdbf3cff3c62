import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';
import { documents, readDocument } from '../support/documents.ts';
import { packed } from '../support/installed-package.ts';

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');

/** What users need: programs and their types, documents, and the licence. */
const wanted = [
  /^(dist\/cjs\/)?package\.json$/,
  /^openapi\.json$/,
  /^(README|CHANGELOG|CONTRIBUTING|SECURITY)\.md$/,
  /^LICENSE$/,
  /^docs\/[\w-]+\.md$/,
  /^docs\/operations\/[\w.-]+\.(yml|json)$/,
  /^examples\/[\w-]+\.ts$/,
  // Projects of their own, one for each framework.
  /^examples\/[\w-]+\/[\w+./-]+$/,
  /^dist\/(cjs\/)?(src|adapters)\/[\w/-]+(\.d\.ts|\.js)$/,
];

let paths: readonly string[];

beforeAll(() => {
  paths = packed().files;
});

describe('what npm publish would upload', () => {
  test('is what users need, and nothing else', () => {
    expect(paths.filter((path) => !wanted.some((pattern) => pattern.test(path)))).toEqual([]);
  });

  test('leaves in the repository what nobody reads in an installed package', () => {
    const unread = [/interface-coverage/, /\/src\/cli\/.*\.d\.ts$/, /\/src\/receiver\/handling\/run\.d\.ts$/];
    expect(paths.filter((path) => unread.some((pattern) => pattern.test(path)))).toEqual([]);
  });

  test('has no more files and bytes than docs/runtimes.md says', () => {
    const [, files = '', megabytes = ''] =
      /at most ([\d,]+) files and ([\d.]+) MB/.exec(read('docs/runtimes.md')) ?? [];
    // Each file of src/ counts four times, in two builds with their types. A new kind of file is a few dozen.
    expect(paths.length).toBeLessThanOrEqual(Number(files.replace(',', '')));
    expect(packed().unpackedSize).toBeLessThanOrEqual(Number(megabytes) * 1_000_000);
  });

  test('has everything that users need', () => {
    expect(wanted.filter((pattern) => !paths.some((path) => pattern.test(path)))).toEqual([]);
  });
});

describe('in the documents', () => {
  test('every link leads to a file that is packed with the page, and to a heading of it', () => {
    const isPacked = (target: string): boolean =>
      paths.some((path) => path === target || path.startsWith(`${target}/`));
    const broken = documents.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)|^\[[^\]]+\]: (?!https?:)([^#\n]*)#?(.*)$/gm)]
        .filter(([, inline, inlineAnchor, defined, definedAnchor]) => {
          const file = inline ?? defined ?? '';
          const anchor = inlineAnchor ?? definedAnchor ?? '';
          const target = file === '' ? path : join(dirname(path), file).replace(/\/$/, '');
          const isThere = existsSync(join(packageRoot, target)) && hasAnchor(target, anchor);
          return !isThere || (isPacked(path) && !isPacked(target));
        })
        .map(([link]) => `${path}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  test('every link to a page on GitHub leads to a file of this repository that is not packed', () => {
    const onGitHub = /https:\/\/github\.com\/posthorn\/posthorn\/(?:blob|tree|raw)\/([\w-]+)\/([\w./-]+)/g;
    const links = documents.flatMap(({ text }) => [...text.matchAll(onGitHub)]);
    expect(links.length).toBeGreaterThan(5);
    const broken = links.filter(
      ([, version, file = '']) =>
        version !== 'HEAD' || !existsSync(join(packageRoot, file)) || paths.includes(file),
    );
    expect(broken.map(([link]) => link)).toEqual([]);
  });
});

test('package.json, package-lock.json and the changelog name the same version', () => {
  const { version } = JSON.parse(read('package.json'));
  const lock = JSON.parse(read('package-lock.json'));
  const [, newest] = read('CHANGELOG.md').match(/^## \[(.*?)\]/m) ?? [];
  expect([lock.version, lock.packages[''].version, newest]).toEqual([version, version, version]);
});

test('security fixes are promised for the version that is released', () => {
  const [major, minor] = JSON.parse(read('package.json')).version.split('.');
  expect(read('SECURITY.md')).toContain(`| ${major}.${minor}.x | yes |`);
});

/** Whether a page has the heading that an anchor names, in GitHub's form of it. */
function hasAnchor(path: string, anchor: string): boolean {
  if (anchor === '') return true;
  const headings = readDocument(path).text.match(/(?<=^#+ ).*$/gm) ?? [];
  return headings.some(
    (heading) =>
      heading
        .toLowerCase()
        .replace(/[^\w\s-]/g, '')
        .replaceAll(' ', '-') === anchor,
  );
}
