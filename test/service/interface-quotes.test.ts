import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';
import { rowsOf } from '../support/table-rows.ts';

/** The interface lies beside this repository where posthorn is developed, and is no part of it. */
const NAME = '../shared/interface.md';
const path = join(packageRoot, NAME);

interface Parts {
  readonly rows: readonly string[];
  readonly rules: readonly string[];
  /** Those of paragraphs and of lists without numbers. */
  readonly sentences: readonly string[];
}

/** What can be quoted of a text in Markdown: rows of tables, numbered rules, and sentences. */
function partsOf(text: string): Parts {
  const lines = text.split('\n');
  const isRule = (line: string): boolean => /^\d+\. /.test(line);
  const isDivider = (line = ''): boolean => /^\|[-| :]+\|$/.test(line);
  const rows = lines.filter(
    (line, index) => line.startsWith('|') && !isDivider(line) && !isDivider(lines[index + 1]),
  );
  const prose = lines.filter((line) => /^[^#|]/.test(line) && !isRule(line));
  return {
    rows: rows.map((row) => normalized(row.replace(/^\|(.*)\|\s*$/, '$1'))),
    rules: lines.filter(isRule).map((rule) => normalized(rule.replace(/^\d+\. /, ''))),
    sentences: prose
      .flatMap((line) => line.replace(/^\s*[-*] /, '').split(/(?<=\.)\s+(?=[A-Z`])/))
      .map(normalized),
  };
}

/** Without emphasis, code marks and escapes, and with single spaces: what is left are the words. */
function normalized(text: string): string {
  return text.replaceAll('\\|', '|').replaceAll(/[*`]/g, '').replaceAll(/\s+/g, ' ').trim();
}

const quotes = rowsOf('test/service/interface-coverage.md').flatMap(([item = '', says = '']) =>
  says.split('<br>').map((quote) => ({ item, quote: normalized(quote) })),
);

/** The quotes that are no part of the text. */
function misquotes({ rows, rules, sentences }: Parts): readonly (typeof quotes)[number][] {
  const parts = new Set([...rows, ...rules, ...sentences]);
  return quotes.filter(({ quote }) => !parts.has(quote));
}

/** The parts that no row quotes. */
function unquoted(parts: readonly string[]): readonly string[] {
  const quoted = new Set(quotes.map(({ quote }) => quote));
  return parts.filter((part) => !quoted.has(part));
}

test('the reader of the interface tells rows, rules and sentences, whatever their spaces and emphasis', () => {
  const text = [
    '# Heading',
    'It says **one** thing.  `Two` follow,  v2.1 too: not shown.',
    '| Field | Rule |',
    '|---|:---|',
    '| `a`  | *first*, i.e. one |',
    '1. Only this. And that.',
    '- Method: `GET /a`; only *b*.',
  ].join('\n');
  expect(partsOf(text)).toEqual({
    rows: ['a | first, i.e. one'],
    rules: ['Only this. And that.'],
    sentences: ['It says one thing.', 'Two follow, v2.1 too: not shown.', 'Method: GET /a; only b.'],
  });
  expect(normalized('`a` \\| first,\n i.e. **one**')).toBe('a | first, i.e. one');
});

test('each row of interface-coverage.md quotes something', () => {
  expect(quotes.length).toBeGreaterThan(200);
  expect(quotes.filter(({ quote }) => quote === '')).toEqual([]);
});

if (existsSync(path)) {
  const parts = partsOf(readFileSync(path, 'utf8'));

  describe(`interface-coverage.md, compared with ${NAME}`, () => {
    test('quotes it word for word, and no less than a row, a rule or a sentence', () => {
      expect(parts.rows.length).toBeGreaterThan(90);
      expect(misquotes(parts)).toEqual([]);
    });

    test('quotes each row of its tables', () => {
      expect(unquoted(parts.rows)).toEqual([]);
    });

    test('quotes each of its numbered rules', () => {
      expect(parts.rules.length).toBe(10);
      expect(unquoted(parts.rules)).toEqual([]);
    });

    test('quotes each of its sentences, but for those that only lead to a list', () => {
      expect(unquoted(parts.sentences.filter((sentence) => !sentence.endsWith(':')))).toEqual([]);
    });

    test('would not pass with a limit changed', () => {
      const text = readFileSync(path, 'utf8').replace(
        '| 30 seconds from creation |',
        '| 30 days from creation |',
      );
      const quote =
        'FX quote validity | 30 seconds from creation | FX quote; a transaction must be created before expiry';
      expect(misquotes(partsOf(text))).toEqual([{ item: 'FX quote validity', quote }]);
      expect(unquoted(partsOf(text).rows)).toEqual([quote.replace('seconds', 'days')]);
    });
  });
} else {
  test(`NOT CHECKED: interface-coverage.md could not be compared with ${NAME}, which is not there`, () => {
    expect(existsSync(path)).toBe(false);
  });
}
