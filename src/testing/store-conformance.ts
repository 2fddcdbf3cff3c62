import type { Store } from '../receiver/dedupe/store.ts';
import { type CaseWithoutId, type ConformanceCase, withIds } from './conformance-case.ts';
import { storeCases } from './store-conformance/case-ids.ts';
import { claims } from './store-conformance/claims.ts';
import { holds } from './store-conformance/holds.ts';
import { lateClaims } from './store-conformance/late-claims.ts';
import { peeks } from './store-conformance/peek.ts';
import { type Requirements, Subject } from './store-conformance/subject.ts';

/**
 * The requirements of stores, for authors of a store. `createStore` creates or shares a store that goes by
 * real time; each case uses its own ids.
 *
 * A store loses no event without `peek` and `refusesLateClaims`: then the cases about them check nothing. A
 * store that has `peek` must also tell a hold, whose token begins with `hold:`, from a run.
 *
 * @example
 * ```ts
 * import { storeConformance } from 'posthorn/testing';
 *
 * for (const { name, run } of storeConformance(() => createMyStore())) test(name, run);
 * ```
 */
export function storeConformance(createStore: () => Store | Promise<Store>): readonly ConformanceCase[] {
  const casesOf = (requirements: Requirements, concern: (store: Store) => boolean): CaseWithoutId[] =>
    Object.entries(requirements).map(([name, check]) => ({
      name,
      run: async () => {
        const store = await createStore();
        if (concern(store)) await check(new Subject(store));
      },
    }));
  const cases = [
    ...casesOf(claims, () => true),
    ...casesOf({ ...peeks, ...holds }, hasPeek),
    ...casesOf(lateClaims, (store) => store.refusesLateClaims === true),
  ];
  return withIds(cases, storeCases);
}

function hasPeek(store: Store): boolean {
  return store.peek !== undefined;
}
