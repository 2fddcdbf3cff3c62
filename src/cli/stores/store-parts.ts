import type { StoreName } from '../../stores/list.ts';
import type { StorePart } from './store-part.ts';

/** The program's part of each store. It is loaded only if a command needs it, because that takes time. */
export const storeParts: Readonly<Record<StoreName, () => Promise<StorePart>>> = {
  redis: async () => (await import('./redis.ts')).redisPart,
  postgres: async () => (await import('./postgres.ts')).postgresPart,
  sqlite: async () => (await import('./sqlite.ts')).sqlitePart,
  dynamodb: async () => (await import('./dynamodb.ts')).dynamoPart,
  d1: async () => (await import('./d1.ts')).d1Part,
};
