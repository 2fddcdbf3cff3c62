import { createMemoryStore } from 'posthorn';
import { stripe } from 'posthorn/providers';
import { adapterConformance, providerConformance, storeConformance } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { adapterCases } from '../../src/testing/adapter-conformance/case-ids.ts';
import { providerCases } from '../../src/testing/provider-conformance/case-ids.ts';
import { storeCases } from '../../src/testing/store-conformance/case-ids.ts';

const unserved = () => Promise.reject(new Error('no case is run'));

describe.each([
  ['adapters', adapterConformance(unserved, { serveReadBody: unserved, servePath: unserved }), adapterCases],
  ['providers', providerConformance(stripe()), providerCases],
  ['stores', storeConformance(createMemoryStore), storeCases],
] as const)('the ids of the cases of %s', (_what, cases, names) => {
  test('are unique, and each has a case', () => {
    expect(cases.map(({ id }) => id)).toEqual(Object.keys(names));
    expect(Object.fromEntries(cases.map(({ id, name }) => [id, name]))).toEqual(names);
  });

  test('are short, in lower case, and of words with hyphens', () => {
    expect(cases.filter(({ id }) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(id) || id.length > 40)).toEqual([]);
  });
});

test('without an optional part the other cases keep their ids', () => {
  for (const options of [{}, { wholeBodiesOnly: true }, { foldsRepeatedHeaders: true }])
    for (const { id, name } of adapterConformance(unserved, options)) expect(adapterCases[id]).toBe(name);
});
