import type { SqlStatement } from './statement.ts';

/**
 * The ids of events. An open claim has a token; once it is released, it has no lease. A completed id has
 * neither. A row that has expired counts as absent. `first_expires_at` is when the row was to expire as it
 * was inserted, or as a clean-up last found it. Only it is indexed besides the key, and no operation sets it
 * again: SQLite would write to the index, even for the same value. All times are in milliseconds since the
 * epoch.
 */
const EVENTS = `create table posthorn_events (
  scope text not null,
  key text not null,
  first_expires_at integer not null,
  expires_at integer not null,
  token text,
  lease_ends_at integer,
  first_claimed_at integer,
  counted_at integer,
  attempt integer,
  spaced_attempts integer,
  abandoned integer,
  handled text,
  primary key (scope, key)
) strict, without rowid;
create index posthorn_events_first_expires_at on posthorn_events (first_expires_at);
`;

/** The row of a removed dead letter is kept for a day without its text, for lists that continue after it. */
const DEAD_LETTERS = `create table posthorn_dead_letters (
  scope text not null,
  key text not null,
  parked_at integer not null,
  position integer not null,
  removed_at integer,
  letter text,
  primary key (scope, key)
) strict;
create index posthorn_dead_letters_in_order on posthorn_dead_letters (scope, parked_at, position);
create index posthorn_dead_letters_removed on posthorn_dead_letters (removed_at)
where removed_at is not null;
`;

/** The records of handled events, and the newest event of each key of `latest`. */
const INBOX = `create table posthorn_inbox (
  scope text not null,
  event_key text not null,
  handler text not null,
  handled_at integer not null,
  primary key (scope, event_key, handler)
) strict, without rowid;
create table posthorn_inbox_latest (
  scope text not null,
  handler text not null,
  key text not null,
  created_at text not null,
  rank integer not null,
  primary key (scope, handler, key)
) strict, without rowid;
`;

/** The records of reruns of handlers, each beside that of its handled event. */
const RERUNS = `create table posthorn_inbox_reruns (
  scope text not null,
  event_key text not null,
  handler text not null,
  run text not null,
  handled_at integer not null,
  primary key (scope, event_key, handler, run)
) strict, without rowid;
`;

/**
 * The entries of journals. `event_key` is the key of the event in full, unless it is the id. `handled` and
 * `headers` are JSON, and `raw_body` is base64, as in a dead letter: every client of SQLite takes a text.
 */
const JOURNAL = `create table posthorn_journal (
  scope text not null,
  key text not null,
  event_key text,
  id text not null,
  type text,
  provider text not null,
  account text,
  created_at real,
  first_received_at integer not null,
  last_received_at integer not null,
  deliveries integer not null,
  attempts integer not null,
  outcome text not null,
  code text,
  finality integer not null,
  decided_at integer not null,
  handled text not null,
  resource text,
  headers text,
  raw_body text,
  primary key (scope, key)
) strict;
create index posthorn_journal_in_order on posthorn_journal (scope, first_received_at, key);
create index posthorn_journal_by_resource on posthorn_journal (scope, resource, first_received_at, key)
where resource is not null;
create index posthorn_journal_by_id on posthorn_journal (scope, id) where event_key is not null;
`;

/** The tables of a store and of dead letters, which D1 has too. */
export const STORE_TABLES: string = EVENTS + DEAD_LETTERS;

/**
 * The statements of each version of a file, the first one first. One that has been released never changes: a
 * later version changes what it made.
 */
export const migrations: readonly string[] = [STORE_TABLES + INBOX];

/**
 * Tables that came later, and that processes of earlier versions do not need to know: a new version of the
 * file would stop those that start while it is rolled out.
 */
export const additions: readonly { readonly table: string; readonly statements: string }[] = [
  { table: 'posthorn_journal', statements: JOURNAL },
  { table: 'posthorn_inbox_reruns', statements: RERUNS },
];

/** Returns the version of the tables, which is null in a table without rows. */
export const READ_VERSION: SqlStatement = {
  sql: 'select max(version) as version from posthorn_migrations',
  values: [],
};

/** In an expression: the time in milliseconds since the epoch, the same throughout a statement. */
export const NOW = "cast(round(unixepoch('subsec') * 1000) as integer)";
