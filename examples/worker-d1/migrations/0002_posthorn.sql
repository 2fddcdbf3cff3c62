alter table posthorn_dead_letter_parts add column part_count integer;
alter table posthorn_dead_letter_parts add column letter_bytes integer;
create table posthorn_migrations (
  version integer primary key,
  applied_at integer not null
) strict;
insert into posthorn_migrations (version, applied_at) values (2, cast(round(unixepoch('subsec') * 1000) as integer));
