export type { DynamoClient } from './client.ts';
export { createDynamoDeadLetters, type DynamoDeadLettersOptions } from './dead-letters/dead-letters.ts';
export { createDynamoStore, type DynamoStoreOptions } from './store/store.ts';
