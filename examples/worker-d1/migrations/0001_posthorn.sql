create table posthorn_events (
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
create table posthorn_dead_letters (
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
create table posthorn_dead_letter_parts (
  scope text not null,
  key text not null,
  part integer not null,
  text text not null,
  primary key (scope, key, part)
) strict, without rowid;
