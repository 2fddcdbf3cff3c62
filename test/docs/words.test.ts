import { describe, expect, test } from 'vitest';
import { documents } from '../support/documents.ts';

/** The most words that a page may have, as `wc -w` counts them: with its tables and snippets. */
const limits: Readonly<Record<string, number>> = {
  'README.md': 1_100,
  'docs/README.md': 610,
  'docs/develop.md': 465,
  'docs/sandbox.md': 730,
  'docs/providers.md': 1_500,
  'docs/handlers.md': 2_200,
  'docs/adapters.md': 1_755,
  'docs/nestjs.md': 1_290,
  'docs/testing.md': 890,
  'docs/answers.md': 900,
  'docs/stores.md': 980,
  'docs/redis.md': 1_296,
  'docs/postgres.md': 2_180,
  'docs/sqlite.md': 940,
  'docs/d1.md': 750,
  'docs/dynamodb.md': 1_288,
  'docs/queue.md': 1_900,
  'docs/queue-postgres.md': 590,
  'docs/production.md': 1_300,
  'docs/operations.md': 2_000,
  'docs/logging.md': 555,
  'docs/tracing.md': 745,
  'docs/troubleshooting.md': 1_765,
  'docs/missed.md': 895,
  'docs/journal.md': 905,
  'docs/operator.md': 900,
  'docs/operator-serverless.md': 455,
  'docs/moving.md': 1_500,
  'docs/client.md': 895,
  'docs/how-it-works.md': 2_910,
  'docs/performance.md': 900,
};

/** Pages to look things up in. A test writes each from the code, or compares it with the code. */
const reference: Readonly<Record<string, string>> = {
  'docs/options.md': 'test/docs/options.test.ts',
  'docs/errors.md': 'test/receiver/errors.test.ts',
  'docs/cli.md': 'test/docs/documented-commands.first.program.test.ts',
  'docs/assumptions.md': 'test/service/openapi/openapi-assumptions.test.ts',
  'docs/conformance.md': 'test/docs/conformance.test.ts',
  'docs/runtimes.md': 'test/project/github/workflows.test.ts',
};

const guides = documents.filter(({ path }) => path === 'README.md' || /^docs\/[\w-]+\.md$/.test(path));
const wordsOf = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length;

describe('the words of the guides', () => {
  test('have a limit for each page, unless it is reference', () => {
    const named = [...Object.keys(limits), ...Object.keys(reference)];
    expect(named.sort()).toEqual(guides.map(({ path }) => path).sort());
  });

  test('are 36,000 at most, without the README', () => {
    const { 'README.md': ofReadme = 0, ...others } = limits;
    expect(ofReadme).toBe(1_100);
    expect(Object.values(others).reduce((sum, limit) => sum + limit, 0)).toBeLessThanOrEqual(36_000);
  });

  test.each(guides.filter(({ path }) => path in limits))(
    'of $path are within its limit',
    ({ path, text }) => {
      expect(wordsOf(text)).toBeLessThanOrEqual(limits[path] ?? 0);
    },
  );
});

test.each(guides)('$path begins with at most five lines for most readers', ({ text }) => {
  const [, first = '', next = ''] = /^# [^\n]+\n\n(.+?)\n\n(.)/s.exec(text) ?? [];
  // A list, a paragraph, or a table of what is left to choose; never a heading right after the title.
  expect(first.split('\n').length).toBeLessThanOrEqual(5);
  expect(first).not.toMatch(/^#/);
  expect(next).not.toBe('');
});
