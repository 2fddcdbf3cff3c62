export type { D1Binding, D1Result, D1Statement } from './client.ts';
export { createD1DeadLetters, type D1DeadLettersOptions } from './dead-letters/dead-letters.ts';
export { d1Migration } from './migrate.ts';
export { createD1Store, type D1StoreOptions } from './store/store.ts';
