import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMemoryStore, type Store } from 'posthorn';
import { type AdapterConformanceOptions, storeConformance } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { adapterCases } from '../../src/testing/adapter-conformance/case-ids.ts';
import { providerCases } from '../../src/testing/provider-conformance/case-ids.ts';
import { storeCases } from '../../src/testing/store-conformance/case-ids.ts';
import { casesFor, groupOf, type OurAdapter, ourAdapters } from '../adapters/our-adapters.ts';
import { silentStores } from '../stores/kit/silent-stores.ts';
import { packageRoot } from '../support/child-program.ts';
import { expectWritten, partNamed, tableOf } from './written-part.ts';

const PAGE = 'docs/conformance.md';

/** The items with the same key together, in the order in which their keys come. */
function groupedBy<T>(items: readonly T[], keyOf: (item: T) => string): readonly [T, ...T[]][] {
  const groups = new Map<string, [T, ...T[]]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return [...groups.values()];
}

const code = (text: string): string => `\`${text}\``;

describe('the adapters', () => {
  const all = Object.entries(adapterCases);

  test.each(ourAdapters)('$name $place runs all cases but those of groups that do not apply', (adapter) => {
    const { inapplicable } = adapter;
    const groups = new Set(all.map(([, name]) => groupOf(name)));
    expect([...groups]).toEqual(expect.arrayContaining(Object.keys(inapplicable)));
    const applicable = all.flatMap(([id, name]) => (groupOf(name) in inapplicable ? [] : [id]));
    expect(casesFor(adapter).map(({ id }) => id)).toEqual(applicable);
  });

  test('are in the table, each with what does not apply to it', () => {
    const rows = groupedBy(ourAdapters, (adapter) => restOfRow(adapter).join(' | ')).map(
      ([first, ...others]) => [namesOf([first, ...others]), ...restOfRow(first)],
    );
    const head = ['adapter', 'cases', 'options', 'groups that do not apply, and why'];
    expectWritten(PAGE, partNamed('adapters'), tableOf(head, rows));
  });

  test('have their cases in a table', () => {
    const rows = all.map(([id, name]) => [code(id), name]);
    expectWritten(PAGE, partNamed('cases of adapters'), tableOf(['id', 'case'], rows));
  });

  function namesOf(adapters: readonly OurAdapter[]): string {
    return adapters.map(({ name, place }) => `${code(name)} ${place}`).join(', ');
  }

  /** The cells of an adapter after its name. */
  function restOfRow(adapter: OurAdapter): readonly string[] {
    const count = casesFor(adapter).length;
    const byReason = groupedBy(Object.entries(adapter.inapplicable), ([, reason]) => reason);
    const inapplicable = byReason.map((entries) => {
      const [[, reason]] = entries;
      return `${entries.map(([group]) => `*${group}*`).join(', ')}: ${reason}`;
    });
    const cases = count === all.length ? `all ${count}` : `${count} of ${all.length}`;
    return [cases, flagsOf(adapter.options).map(code).join(', '), inapplicable.join('; ')];
  }

  /** The options by which an adapter declares what its platform cannot do. */
  function flagsOf(options: AdapterConformanceOptions): readonly string[] {
    return Object.entries(options).flatMap(([name, value]) => (value === true ? [name] : []));
  }
});

describe('the stores', () => {
  const all = Object.entries(storeCases);
  const ourStores: readonly { name: string; title: string; store: Store }[] = [
    { name: 'memory', title: 'memory', store: createMemoryStore() },
    ...silentStores.map(({ listed: { name, title }, createStore, place }) => ({
      name,
      title,
      store: createStore(place),
    })),
  ];

  const refuse = (): Promise<never> => Promise.reject(new Error('it was asked'));
  const plain: Store = { claim: refuse, renew: refuse, complete: refuse, release: refuse };

  /** The cases that check a store with these optional members: the others ask it nothing. */
  async function checkedCases(members: Pick<Store, 'peek' | 'refusesLateClaims'>): Promise<Set<string>> {
    const cases = storeConformance(() => ({ ...plain, ...members }));
    const results = await Promise.allSettled(cases.map(({ run }) => run()));
    return new Set(cases.flatMap(({ id }, index) => (results[index]?.status === 'rejected' ? [id] : [])));
  }

  test.each(ourStores)('of $name has what each case checks, and its tests run the list', async (one) => {
    const { peek, refusesLateClaims } = one.store;
    const checked = await checkedCases({ ...(peek && { peek: refuse }), refusesLateClaims });
    expect(all.filter(([id]) => !checked.has(id))).toEqual([]);
    const folder = join(packageRoot, 'test', 'stores', one.name);
    const files = readdirSync(folder).filter((file) => file.endsWith('.ts'));
    const texts = files.map((file) => readFileSync(join(folder, file), 'utf8'));
    expect(texts.some((text) => text.includes('storeConformance('))).toBe(true);
  });

  test('have their cases in a table, each with the member without which it checks nothing', async () => {
    const always = await checkedCases({});
    const withPeek = await checkedCases({ peek: refuse });
    const withRefusals = await checkedCases({ refusesLateClaims: true });
    const rows = all.map(([id, name]) => {
      if (always.has(id)) return [code(id), name, ''];
      expect([withPeek.has(id), withRefusals.has(id)].filter(Boolean), id).toHaveLength(1);
      return [code(id), name, withPeek.has(id) ? '`peek`' : '`refusesLateClaims`'];
    });
    const titles = ourStores.map(({ title }) => title).join(', ');
    const sentence = `\nAll stores of posthorn pass all ${all.length} cases: ${titles}.\n`;
    expectWritten(PAGE, partNamed('stores'), sentence + tableOf(['id', 'case', 'only with'], rows));
  });
});

test('the cases of providers are in a table', () => {
  const rows = Object.entries(providerCases).map(([id, name]) => [code(id), name]);
  expectWritten(PAGE, partNamed('providers'), tableOf(['id', 'case'], rows));
});
