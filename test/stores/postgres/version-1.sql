-- The tables as version 1 made them: what processes of it find, and use, while newer ones migrate.
begin;
-- Of several processes at once, one migrates while the others wait. Under a stricter isolation
-- they would see the database as it was before they waited, without what the one has made.
set transaction isolation level read committed;
select pg_advisory_xact_lock(hashtextextended('posthorn.migrations', 0));
do $posthorn$ begin
-- "if not exists" would ask for the right to create schemas even where this one is there.
if to_regnamespace('"posthorn"') is null then
create schema "posthorn";
end if;
if to_regclass('"posthorn".migrations') is null then
create table "posthorn".migrations (
  version integer primary key,
  applied_at timestamptz not null default now()
);
end if;
end $posthorn$;
do $posthorn$ begin
if not exists (select from "posthorn".migrations where version = 1) then
create table "posthorn".events (
  first_expires_at timestamptz not null,
  expires_at timestamptz not null,
  first_claimed_at timestamptz,
  counted_at timestamptz,
  lease_ends_at timestamptz,
  attempt integer,
  spaced_attempts integer,
  abandoned integer,
  scope text collate "C" not null,
  key text collate "C" not null,
  token text,
  handled text,
  primary key (scope, key)
) with (fillfactor = 85);
create index events_first_expires_at on "posthorn".events (first_expires_at);

create function "posthorn".claim(
  p_scope text, p_key text, p_token text, p_lease interval, p_retention interval, p_spacing interval,
  p_not_after timestamptz
) returns text language plpgsql as $function$
declare
  moment timestamptz;
  event "posthorn".events%rowtype;
  locked boolean := false;
begin
  loop
    moment := clock_timestamp();
    if moment > p_not_after then return 'late'; end if;
    insert into "posthorn".events (
      scope, key, token, first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at,
      attempt, spaced_attempts, abandoned
    ) values (
      p_scope, p_key, p_token, moment + p_retention, moment + p_retention, moment, moment, moment + p_lease,
      1, 1, 0
    ) on conflict do nothing;
    if found then
      if clock_timestamp() <= p_not_after then return 'claimed 1 0 0 1 '; end if;
      delete from "posthorn".events where scope = p_scope and key = p_key;
      return 'late';
    end if;
    -- Nearly all of these are duplicates, which need no lock: a lock is written to the disk.
    if locked then
      select * into event from "posthorn".events where scope = p_scope and key = p_key for update;
    else
      select * into event from "posthorn".events where scope = p_scope and key = p_key;
    end if;
    continue when not found;
    moment := clock_timestamp();
    if moment > p_not_after then return 'late'; end if;
    if event.expires_at > moment then
      if event.token is null then return 'completed'; end if;
      if event.token <> p_token and event.lease_ends_at > moment then
        return 'busy ' || "posthorn".milliseconds(event.lease_ends_at - moment);
      end if;
    end if;
    exit when locked;
    locked := true;
  end loop;

  if event.expires_at <= moment then
    event.first_expires_at := moment + p_retention;
    event.first_claimed_at := moment;
    event.counted_at := moment;
    event.attempt := 1;
    event.spaced_attempts := 1;
    event.abandoned := 0;
    event.handled := null;
  elsif event.token <> p_token or event.lease_ends_at is null then
    -- A clock that was set back says nothing of the time between two claims: one too few counted would
    -- lose the event.
    if event.counted_at > moment or event.counted_at + p_spacing <= moment then
      event.spaced_attempts := event.spaced_attempts + 1;
      event.counted_at := moment;
    end if;
    if event.lease_ends_at is not null then event.abandoned := event.abandoned + 1; end if;
    event.attempt := event.attempt + 1;
  end if;
  update "posthorn".events set
    token = p_token, first_expires_at = event.first_expires_at, expires_at = moment + p_retention,
    first_claimed_at = event.first_claimed_at, counted_at = event.counted_at,
    lease_ends_at = moment + p_lease, attempt = event.attempt, spaced_attempts = event.spaced_attempts,
    abandoned = event.abandoned, handled = event.handled
  where scope = p_scope and key = p_key;
  return concat_ws(' ',
    'claimed', event.attempt, event.abandoned, "posthorn".milliseconds(moment - event.first_claimed_at),
    event.spaced_attempts, coalesce(event.handled, '')
  );
end $function$;

create function "posthorn".renew(
  p_scope text, p_key text, p_token text, p_lease interval, p_retention interval, p_not_after timestamptz
) returns text language plpgsql as $function$
declare
  moment timestamptz;
  event "posthorn".events%rowtype;
  claimed text;
begin
  select * into event from "posthorn".events where scope = p_scope and key = p_key for update;
  moment := clock_timestamp();
  if moment > p_not_after then return 'late'; end if;
  if not found or event.expires_at <= moment then
    claimed := "posthorn".claim(p_scope, p_key, p_token, p_lease, p_retention, '0', p_not_after);
    return case when claimed like 'claimed%' then 'held' when claimed like 'busy%' then 'lost' else claimed end;
  end if;
  if event.token is null then return 'completed'; end if;
  if event.token <> p_token or event.lease_ends_at is null then return 'lost'; end if;
  update "posthorn".events set lease_ends_at = moment + p_lease, expires_at = moment + p_retention
  where scope = p_scope and key = p_key;
  return 'held';
end $function$;

create function "posthorn".complete(p_scope text, p_key text, p_retention interval)
returns text language plpgsql as $function$
declare
  ends_at timestamptz := clock_timestamp() + p_retention;
begin
  insert into "posthorn".events as event (scope, key, first_expires_at, expires_at)
  values (p_scope, p_key, ends_at, ends_at)
  on conflict (scope, key) do update set
    token = null, expires_at = ends_at, first_claimed_at = null, counted_at = null, lease_ends_at = null,
    attempt = null, spaced_attempts = null, abandoned = null, handled = null,
    first_expires_at =
      case when event.expires_at <= clock_timestamp() then ends_at else event.first_expires_at end;
  return 'completed';
end $function$;

create function "posthorn".release(
  p_scope text, p_key text, p_token text, p_retention interval, p_handled text
) returns text language plpgsql as $function$
declare
  moment timestamptz;
  event "posthorn".events%rowtype;
begin
  select * into event from "posthorn".events where scope = p_scope and key = p_key for update;
  moment := clock_timestamp();
  if not found or event.expires_at <= moment then return 'lost'; end if;
  if event.token is null then return 'completed'; end if;
  if event.token <> p_token then return 'lost'; end if;
  update "posthorn".events set
    lease_ends_at = null, expires_at = moment + p_retention,
    handled = coalesce(nullif(p_handled, ''), event.handled)
  where scope = p_scope and key = p_key;
  return 'released';
end $function$;

-- Runs operations in their order, and returns the time in milliseconds and the result of each, in lines.
create function "posthorn".operate(
  p_lock_timeout_ms integer, p_scope text, p_not_after float8[], p_names text[], p_keys text[],
  p_tokens text[], p_leases_ms float8[], p_retentions_ms float8[], p_details text[]
) returns text language plpgsql as $function$
declare
  not_after timestamptz;
  lease interval;
  retention interval;
  result text;
  results text := '';
begin
  -- A caller that has given up must not leave a process behind that waits for a lock.
  perform set_config('lock_timeout', p_lock_timeout_ms::text, true);
  for i in 1 .. cardinality(p_keys) loop
    not_after := to_timestamp(p_not_after[i] / 1000);
    lease := p_leases_ms[i] * interval '1 millisecond';
    retention := p_retentions_ms[i] * interval '1 millisecond';
    if p_names[i] = 'claim' then
      result := "posthorn".claim(
        p_scope, p_keys[i], p_tokens[i], lease, retention,
        p_details[i]::float8 * interval '1 millisecond', not_after
      );
    elsif p_names[i] = 'renew' then
      result := "posthorn".renew(p_scope, p_keys[i], p_tokens[i], lease, retention, not_after);
    elsif p_names[i] = 'complete' then
      result := "posthorn".complete(p_scope, p_keys[i], retention);
    else
      result := "posthorn".release(p_scope, p_keys[i], p_tokens[i], retention, p_details[i]);
    end if;
    results := results || E'\n' || result;
  end loop;
  return extract(epoch from clock_timestamp()) * 1000 || results;
end $function$;

-- Deletes expired rows, the oldest first, and returns how many; nothing while another process does so.
create function "posthorn".clean(p_limit integer) returns integer language plpgsql
set enable_seqscan = off as $function$
declare
  moment timestamptz := clock_timestamp();
  deleted integer;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('posthorn.clean "posthorn"', 0)) then return 0; end if;
  delete from "posthorn".events where ctid = any (array(
    select ctid from "posthorn".events
    where first_expires_at <= moment and expires_at <= moment
    order by first_expires_at limit p_limit for update skip locked
  ));
  get diagnostics deleted = row_count;
  return deleted;
end $function$;

create function "posthorn".milliseconds(p_time interval) returns text language sql immutable
as $function$ select greatest(0, ceil(extract(epoch from p_time) * 1000))::bigint::text $function$;

create table "posthorn".dead_letters (
  scope text collate "C" not null,
  key text collate "C" not null,
  parked_at bigint not null,
  position bigint not null generated by default as identity,
  removed_at timestamptz,
  letter text,
  primary key (scope, key)
);
create index dead_letters_in_order on "posthorn".dead_letters (scope, parked_at, position)
where letter is not null;
create index dead_letters_removed on "posthorn".dead_letters (removed_at) where removed_at is not null;

create table "posthorn".inbox (
  scope text collate "C" not null,
  event_key text collate "C" not null,
  handler text collate "C" not null,
  handled_at timestamptz not null default now(),
  primary key (scope, event_key, handler)
);

create table "posthorn".inbox_latest (
  scope text collate "C" not null,
  handler text collate "C" not null,
  key text collate "C" not null,
  created_at timestamptz not null,
  primary key (scope, handler, key)
);

create function "posthorn".record_handled(
  p_scope text, p_event_key text, p_handler text, p_idle text, p_latest_key text, p_created_at timestamptz
) returns text language plpgsql set lock_timeout = '100ms' as $function$
begin
  -- Until the end of the transaction.
  perform set_config('idle_in_transaction_session_timeout', p_idle, true);
  insert into "posthorn".inbox (scope, event_key, handler) values (p_scope, p_event_key, p_handler)
  on conflict do nothing;
  if not found then return 'handled_before'; end if;
  if p_latest_key is not null then
    -- A row that the condition leaves out is locked all the same.
    insert into "posthorn".inbox_latest as latest (scope, handler, key, created_at)
    values (p_scope, p_handler, p_latest_key, p_created_at)
    on conflict (scope, handler, key) do update set created_at = excluded.created_at
    where excluded.created_at >= latest.created_at;
    if not found then return 'superseded'; end if;
  end if;
  return pg_current_xact_id()::xid::text;
end $function$;

insert into "posthorn".migrations (version) values (1);
end if;
end $posthorn$;
commit;
