import type { Store } from 'posthorn';

/**
 * The operations of a store: those that `test/simulation` performs in any order, and that real stores are
 * compared over with a model.
 */
export const storeOperations = [
  'claim',
  'renew',
  'complete',
  'release',
] as const satisfies readonly (keyof Store)[];

export type StoreOperation = (typeof storeOperations)[number];
