create table replay_position (
  scope text primary key,
  last_id text
) strict;
