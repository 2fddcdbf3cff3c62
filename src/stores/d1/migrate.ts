import { NOW, STORE_TABLES } from '../sqlite/tables.ts';

/**
 * The texts of dead letters that are too long for a row of D1, which takes 2,000,000 bytes:
 * https://developers.cloudflare.com/d1/platform/limits/. Their rows among the dead letters have an empty
 * text.
 */
const PARTS_TABLE = `create table posthorn_dead_letter_parts (
  scope text not null,
  key text not null,
  part integer not null,
  text text not null,
  primary key (scope, key, part)
) strict, without rowid;
`;

/**
 * Each part says how many parts its dead letter has, and how many bytes in all of them. An earlier posthorn
 * writes neither, and replaces all parts of a dead letter: so what a part says is never about another text.
 */
const SIZES_OF_PARTS = `alter table posthorn_dead_letter_parts add column part_count integer;
alter table posthorn_dead_letter_parts add column letter_bytes integer;
`;

/** The tables say their version from the second one on. */
const VERSIONS = `create table posthorn_migrations (
  version integer primary key,
  applied_at integer not null
) strict;
insert into posthorn_migrations (version, applied_at) values (2, ${NOW});
`;

/**
 * The SQL of each version of the tables, the first one first. One that has been released never changes, and a
 * later one only adds, because code of the version before goes on with the tables.
 */
export const d1Migrations: readonly string[] = [STORE_TABLES + PARTS_TABLE, SIZES_OF_PARTS + VERSIONS];

/**
 * The SQL that creates the tables of the store and of the dead letters, for a file in the migrations folder
 * of wrangler. `npx posthorn d1 sql` prints it; with `--from`, only what tables of an earlier version lack.
 *
 * @example
 * ```ts
 * import { writeFile } from 'node:fs/promises';
 * import { d1Migration } from 'posthorn/d1';
 *
 * await writeFile('migrations/0001_posthorn.sql', d1Migration);
 * ```
 */
export const d1Migration: string = d1Migrations.join('');
