/** In an index, the beginning of a text of any length: an entry of an index has 2,700 bytes at most. */
export const START_OF = 200;

/**
 * The table of journals, in the version that made it. `key` is that of the event, or its digest if it is
 * long; `event_key` is the key in full, unless it is the id. `batches` are those that changed the row last.
 * `schema` is quoted.
 */
export function journalTable(schema: string): string {
  return `
create table ${schema}.journal (
  first_received_at bigint not null,
  last_received_at bigint not null,
  decided_at bigint not null,
  created_at double precision,
  deliveries integer not null,
  attempts integer not null,
  finality smallint not null,
  scope text collate "C" not null,
  key text collate "C" not null,
  event_key text,
  id text not null,
  type text,
  provider text not null,
  account text,
  outcome text not null,
  code text,
  resource text,
  handled text[] not null,
  batches uuid[] not null,
  headers json,
  raw_body bytea,
  primary key (scope, key)
) with (fillfactor = 85);
create index journal_in_order on ${schema}.journal (scope, first_received_at, key);
create index journal_by_resource on ${schema}.journal (scope, left(resource, ${START_OF}), first_received_at, key)
where resource is not null;
create index journal_by_id on ${schema}.journal (scope, left(id, ${START_OF})) where event_key is not null;
`;
}
