import { describe, expect, test } from 'vitest';
import { advisedStores, type ListedStore, type Platform, stores } from '../../src/stores/list.ts';
import { readDocument } from '../support/documents.ts';

/** The text below a heading, up to the next one of its level or above. Throws if there is no such heading. */
function section(page: string, heading: string): string {
  const [marks = ''] = heading.split(' ');
  const { text } = readDocument(`docs/${page}`);
  const [, below] = text.split(`\n${heading}\n`);
  if (below === undefined) throw new Error(`docs/${page} has no heading "${heading}"`);
  const [own = ''] = below.split(new RegExp(`^#{1,${marks.length}} `, 'm'));
  return own;
}

/** The stores whose pages a text has links to. */
const linkedIn = (text: string): ListedStore[] => stores.filter(({ name }) => text.includes(`](${name}.md`));

describe('a page that lists the stores has all of them', () => {
  test('the checklist for production links the page of each', () => {
    expect(linkedIn(section('production.md', '## Checklist'))).toEqual(stores);
  });

  test('the checklist links the tables of each store that needs some', () => {
    const prepared = stores.filter(({ migration }) => migration !== undefined);
    const step = section('production.md', '## Checklist').match(
      /^\d+\. The store is prepared.*?(?=^\d)/ms,
    )?.[0];
    expect(linkedIn(step ?? '')).toEqual(expect.arrayContaining(prepared));
  });

  test('handlers.md names the subpath of the dead letters of each', () => {
    const text = section('handlers.md', '## Dead letters');
    expect(stores.filter(({ name }) => !text.includes(`\`posthorn/${name}\``))).toEqual([]);
  });

  test.each([
    ['handlers.md', '## A handler can run twice'],
    ['operations.md', '### PosthornLeaseLost'],
    ['errors.md', '## Errors of the inbox'],
  ])('%s, %s: links the inbox of each store that has one', (page, heading) => {
    const text = section(page, heading);
    const withInbox = stores.filter(({ inbox }) => inbox !== undefined);
    expect(stores.filter(({ name }) => text.includes(`](${name}.md#effects-exactly-once)`))).toEqual(
      withInbox,
    );
  });

  test('troubleshooting.md has a section for each, and the alert for a store that is down leads there', () => {
    const { text } = readDocument('docs/troubleshooting.md');
    const alert = section('operations.md', '### PosthornStoreDown');
    for (const { title } of stores) {
      const [, heading = ''] = new RegExp(`^## (${title} .*)$`, 'm').exec(text) ?? [];
      expect(alert, title).toContain(`](troubleshooting.md#${heading.toLowerCase().replaceAll(' ', '-')})`);
    }
  });

  test.each(['store_unavailable', 'dead_letters_unavailable'])(
    'errors.md names each in the row of %s',
    (code) => {
      const { text } = readDocument('docs/errors.md');
      const row = text.split('\n').find((line) => line.startsWith(`| \`${code}\` `)) ?? '';
      expect(stores.filter(({ title }) => !new RegExp(`\\b${title}\\b`).test(row))).toEqual([]);
    },
  );
});

test('the stores side by side in docs/stores.md have their dead letters and their journals', () => {
  const [head = '', ...rows] = section('stores.md', '## Side by side').match(/^\| .*$/gm) ?? [];
  const cellsOf = (row: string): string[] => row.slice(2, -2).split(' | ');
  for (const member of ['deadLetters', 'journal'] as const) {
    const name = member === 'journal' ? 'journal' : 'dead letters';
    const cells = cellsOf(rows.find((row) => row.startsWith(`| ${name} |`)) ?? '');
    for (const store of stores) {
      const called = store[member];
      const cell = cells[cellsOf(head).indexOf(store.title)];
      expect(cell, `${name} of ${store.title}`).toBe(called === undefined ? 'no' : `\`${called}\``);
    }
  }
});

describe('the table of places in docs/stores.md', () => {
  const [table = ''] = readDocument('docs/stores.md').text.split('\n## ');
  const rows = table.split('\n').filter((line) => line.startsWith('| '));
  const platforms = [...new Set(stores.flatMap((store) => store.platforms))];

  const rowOf = (platform: Platform): string => rows.find((row) => row.startsWith(`| ${platform}`)) ?? '';

  test.each(platforms)('has for %s each store that runs there, and no other', (platform) => {
    const fitting = stores.filter((store) => store.platforms.includes(platform));
    expect(linkedIn(rowOf(platform))).toEqual(fitting);
  });

  test.each(platforms)('has for %s each journal that runs there, and no other', (platform) => {
    const cell = rowOf(platform).split(' | ').at(-1) ?? '';
    const fitting = stores.filter((store) => store.journal && store.platforms.includes(platform));
    expect(stores.filter(({ title }) => cell.includes(title))).toEqual(fitting);
  });

  test.each(['one machine', 'AWS Lambda', 'Cloudflare Workers'] as const)(
    'begins for %s with the store that the receiver advises first',
    (platform) => {
      const [first] = advisedStores[platform];
      expect(rowOf(platform)).toMatch(new RegExp(`^\\| [^|]* \\| \\[[^\\]]+\\]\\(${first}\\.md\\)`));
    },
  );
});
