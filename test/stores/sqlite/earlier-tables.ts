import { additions, migrations, NOW } from '../../../src/stores/sqlite/tables.ts';
import type { Connection } from './connection.ts';

/** Makes the tables of an earlier version, which had only these of the tables that came later. */
export function createEarlierTables(database: Connection, later: readonly string[]): void {
  const added = additions.filter(({ table }) => later.includes(table));
  database.exec(`pragma journal_mode = wal;
create table posthorn_migrations (version integer primary key, applied_at integer not null) strict;
${migrations[0]}
${added.map(({ statements }) => statements).join('\n')}
insert into posthorn_migrations (version, applied_at) values (1, ${NOW});`);
}
