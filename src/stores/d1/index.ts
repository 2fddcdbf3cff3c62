export type { D1Binding, D1Result, D1Statement } from './binding.ts';
export { createD1DeadLetters, type D1DeadLettersOptions } from './dead-letters.ts';
export { d1Migration } from './migration.ts';
export { createD1Store, type D1StoreOptions } from './store.ts';
