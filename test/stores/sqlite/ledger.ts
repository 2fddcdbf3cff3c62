import type { SqliteDatabase, SqliteTransaction } from 'posthorn/sqlite';

/** Bookings without a unique index: what runs twice is there twice. */
export function createLedger(database: SqliteDatabase): void {
  database.exec('create table if not exists ledger (event_id text not null, amount integer)');
}

/** Books an event in a transaction of an inbox. */
export function book({ id }: { readonly id: string }, database: Pick<SqliteTransaction, 'prepare'>): void {
  database.prepare('insert into ledger (event_id, amount) values (?, ?)').run(id, 1250);
}

/** How often an event has been booked. */
export function bookings(database: SqliteDatabase, { id }: { readonly id: string }): number {
  return database.prepare('select 1 from ledger where event_id = ?').all(id).length;
}

/** The handlers that have a record of an event. */
export function recordsOf(database: SqliteDatabase, { id }: { readonly id: string }): unknown[] {
  const statement = database.prepare(
    'select handler from posthorn_inbox where event_key = ? order by handler',
  );
  return statement.all(id).map((row) => Object.values(row ?? {})[0]);
}

/** The names of the reruns of an event that have a record. */
export function rerunsOf(database: SqliteDatabase, { id }: { readonly id: string }): unknown[] {
  const statement = database.prepare(
    'select run from posthorn_inbox_reruns where event_key = ? order by run',
  );
  return statement.all(id).map((row) => Object.values(row ?? {})[0]);
}
