import { expect, test } from 'vitest';
import { problemsOf } from '../../../tools/release/check-version.js';

const good = {
  'package.json': '{"version":"1.2.3"}',
  'package-lock.json': '{"version":"1.2.3","packages":{"":{"version":"1.2.3"}}}',
  'CHANGELOG.md': '# Changelog\n\n## [1.2.3] - 2026-11-24\n\n## [1.2.2] - 2026-11-23\n',
  'SECURITY.md': '| 1.2.x | yes |\n| 1.1.x | no |\n',
};

function problems(tag: string, changed: Readonly<Record<string, string>> = {}): readonly string[] {
  const files: Readonly<Record<string, string>> = { ...good, ...changed };
  return problemsOf(tag, (path) => files[path] ?? '');
}

test('a tag can be published if the whole commit is of its version', () => {
  expect(problems('v1.2.3')).toEqual([]);
});

test.each([
  ['another tag', 'v1.2.4', {}, 'the tag is v1.2.4, and package.json has the version 1.2.3'],
  ['a tag without v', '1.2.3', {}, 'the tag is 1.2.3'],
  [
    'another version in the lock',
    'v1.2.3',
    { 'package-lock.json': '{"version":"1.2.3","packages":{"":{"version":"1.2.2"}}}' },
    'package-lock.json',
  ],
  [
    'a change log without a day',
    'v1.2.3',
    { 'CHANGELOG.md': '## [1.2.3] - Unreleased\n' },
    'has ## [1.2.3] - Unreleased',
  ],
  ['a change log without the version', 'v1.2.3', { 'CHANGELOG.md': '## [1.2.2] - 2026-11-23\n' }, 'has none'],
  [
    'security fixes for others',
    'v1.2.3',
    { 'SECURITY.md': '| 1.1.x | yes |' },
    'that 1.2.x gets security fixes',
  ],
])('%s ends the release, and is named', (_, tag, changed, problem) => {
  expect(problems(tag, changed)).toEqual([expect.stringContaining(problem)]);
});
