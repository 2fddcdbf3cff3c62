/**
 * The statements of each version, the first one first. One that has been released never changes: a later
 * version changes what it made. `schema` is quoted.
 */
const migrations: readonly ((schema: string) => string)[] = [
  (schema) => `
create table ${schema}.events (
  scope text collate "C" not null,
  key text collate "C" not null,
  first_expires_at timestamptz not null,
  expires_at timestamptz not null,
  first_claimed_at timestamptz,
  counted_at timestamptz,
  lease_ends_at timestamptz,
  attempt integer,
  spaced_attempts integer,
  abandoned integer,
  token text,
  handled text,
  primary key (scope, key)
) with (fillfactor = 85);
create index events_first_expires_at on ${schema}.events (first_expires_at);

create table ${schema}.dead_letters (
  scope text collate "C" not null,
  key text collate "C" not null,
  parked_at bigint not null,
  position bigint not null generated always as identity,
  removed_at timestamptz,
  letter text,
  primary key (scope, key)
);
create index dead_letters_in_order on ${schema}.dead_letters (scope, parked_at, position);
create index dead_letters_removed on ${schema}.dead_letters (removed_at) where removed_at is not null;

create table ${schema}.inbox (
  scope text collate "C" not null,
  event_key text collate "C" not null,
  handler text collate "C" not null,
  handled_at timestamptz not null default now(),
  primary key (scope, event_key, handler)
);

create table ${schema}.inbox_latest (
  scope text collate "C" not null,
  handler text collate "C" not null,
  key text collate "C" not null,
  created_at timestamptz not null,
  primary key (scope, handler, key)
);
`,
];

/**
 * The SQL that brings a schema, whatever its version, up to date, in one transaction. It is a script of
 * several statements without parameters, so that psql can run it too.
 */
export function migrationSql(schema: string): string {
  const steps = migrations.map((statements, index) => step(schema, index + 1, statements(schema)));
  return `begin;
-- Of several processes at once, one migrates while the others wait.
select pg_advisory_xact_lock(hashtextextended('posthorn.migrations', 0));
do $posthorn$ begin
-- "if not exists" would ask for the right to create schemas even where this one is there.
if to_regnamespace('${schema}') is null then
create schema ${schema};
end if;
if to_regclass('${schema}.migrations') is null then
create table ${schema}.migrations (
  version integer primary key,
  applied_at timestamptz not null default now()
);
end if;
end $posthorn$;
${steps.join('')}commit;
`;
}

function step(schema: string, version: number, statements: string): string {
  return `do $posthorn$ begin
if not exists (select from ${schema}.migrations where version = ${version}) then
${statements.trim()}

insert into ${schema}.migrations (version) values (${version});
end if;
end $posthorn$;
`;
}
