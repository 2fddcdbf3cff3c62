import { STORE_TABLES } from '../sqlite/tables.ts';
import { PARTS_TABLE } from './letter-parts.ts';

/**
 * The SQL that creates the tables of the store and of the dead letters, for a file in the migrations folder
 * of wrangler. `npx posthorn d1 sql` prints it.
 *
 * @example
 * ```ts
 * await writeFile('migrations/0001_posthorn.sql', d1Migration);
 * ```
 */
export const d1Migration: string = STORE_TABLES + PARTS_TABLE;
