import { HOLD } from '../../../receiver/dedupe/claim-token.ts';
import { MOST_REFUSED } from '../../kit/claim-rule.ts';

/**
 * Creates the functions of the store, in the schema, which is quoted, or replaces those of an earlier
 * version. Each keeps its parameters, because processes of that version go on calling it. They are functions,
 * because PostgreSQL would parse and plan the same statements anew at each operation, which takes several
 * times as long as running them; and what a prepared statement would save, PgBouncer in transaction mode
 * loses.
 *
 * An open claim has a token; once it is released, it has no lease. A completed id has neither. A row that has
 * expired counts as absent. Only `first_expires_at` is indexed besides the key, and it stays as it is while
 * the row lives, so that updates are HOT: they touch no index.
 *
 * `refused` has the tokens whose claims are refused, because they may arrive after their release, and the
 * time of each in milliseconds since the epoch. In a row without any other claim the token is empty.
 *
 * Each function reads the clock after it has waited for the lock of the row: a claim that is late by then
 * takes nothing.
 */
export function storeFunctions(schema: string): string {
  return `
-- Returns true if the claim of a token is not a run.
create or replace function ${schema}.is_hold(p_token text) returns boolean language sql immutable
as $function$ select p_token like '${HOLD}%' $function$;

create or replace function ${schema}.claim(
  p_scope text, p_key text, p_token text, p_lease interval, p_retention interval, p_spacing interval,
  p_not_after timestamptz
) returns text language plpgsql as $function$
declare
  moment timestamptz;
  event ${schema}.events%rowtype;
  refused_until timestamptz;
  counted integer := case when ${schema}.is_hold(p_token) then 0 else 1 end;
  locked boolean := false;
begin
  loop
    moment := clock_timestamp();
    if moment > p_not_after then return 'late'; end if;
    insert into ${schema}.events (
      scope, key, token, first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at,
      attempt, spaced_attempts, abandoned
    ) values (
      p_scope, p_key, p_token, moment + p_retention, moment + p_retention, moment, moment, moment + p_lease,
      counted, counted, 0
    ) on conflict do nothing;
    if found then
      if clock_timestamp() <= p_not_after then return 'claimed 1 0 0 ' || counted || ' '; end if;
      delete from ${schema}.events where scope = p_scope and key = p_key;
      return 'late';
    end if;
    -- Nearly all of these are duplicates, which need no lock: a lock is written to the disk.
    if locked then
      select * into event from ${schema}.events where scope = p_scope and key = p_key for update;
    else
      select * into event from ${schema}.events where scope = p_scope and key = p_key;
    end if;
    continue when not found;
    moment := clock_timestamp();
    if moment > p_not_after then return 'late'; end if;
    if event.expires_at > moment then
      if event.token is null then return 'completed'; end if;
      if event.token <> p_token and event.lease_ends_at > moment then
        return 'busy ' || ${schema}.milliseconds(event.lease_ends_at - moment);
      end if;
      refused_until := to_timestamp((event.refused ->> p_token)::float8 / 1000);
      if refused_until > moment then return 'busy ' || ${schema}.milliseconds(refused_until - moment); end if;
    end if;
    exit when locked;
    locked := true;
  end loop;

  if event.expires_at <= moment then
    event.first_expires_at := moment + p_retention;
    event.first_claimed_at := moment;
    event.counted_at := moment;
    event.attempt := counted;
    event.spaced_attempts := counted;
    event.abandoned := 0;
    event.handled := null;
    event.refused := null;
  elsif event.token <> p_token or event.lease_ends_at is null then
    if event.lease_ends_at is not null and not ${schema}.is_hold(event.token) then
      event.abandoned := event.abandoned + 1;
    end if;
    if event.attempt = 0 then event.first_claimed_at := moment; end if;
    if counted = 1 then
      -- A clock that was set back says nothing of the time between two claims: one too few counted would
      -- lose the event.
      if event.attempt = 0 or event.counted_at > moment or event.counted_at + p_spacing <= moment then
        event.spaced_attempts := event.spaced_attempts + 1;
        event.counted_at := moment;
      end if;
      event.attempt := event.attempt + 1;
    end if;
  end if;
  update ${schema}.events set
    token = p_token, first_expires_at = event.first_expires_at, expires_at = moment + p_retention,
    first_claimed_at = event.first_claimed_at, counted_at = event.counted_at,
    lease_ends_at = moment + p_lease, attempt = event.attempt, spaced_attempts = event.spaced_attempts,
    abandoned = event.abandoned, handled = event.handled, refused = event.refused
  where scope = p_scope and key = p_key;
  return concat_ws(' ',
    'claimed', event.attempt + 1 - counted, event.abandoned, ${schema}.milliseconds(moment - event.first_claimed_at),
    event.spaced_attempts, coalesce(event.handled, '')
  );
end $function$;

create or replace function ${schema}.renew(
  p_scope text, p_key text, p_token text, p_lease interval, p_retention interval, p_not_after timestamptz
) returns text language plpgsql as $function$
declare
  moment timestamptz;
  event ${schema}.events%rowtype;
  claimed text;
begin
  select * into event from ${schema}.events where scope = p_scope and key = p_key for update;
  moment := clock_timestamp();
  if moment > p_not_after then return 'late'; end if;
  if not found or event.expires_at <= moment or event.token = '' then
    claimed := ${schema}.claim(p_scope, p_key, p_token, p_lease, p_retention, '0', p_not_after);
    return case when claimed like 'claimed%' then 'held' when claimed like 'busy%' then 'lost' else claimed end;
  end if;
  if event.token is null then return 'completed'; end if;
  if event.token <> p_token or event.lease_ends_at is null then return 'lost'; end if;
  update ${schema}.events set lease_ends_at = moment + p_lease, expires_at = moment + p_retention
  where scope = p_scope and key = p_key;
  return 'held';
end $function$;

create or replace function ${schema}.complete(p_scope text, p_key text, p_retention interval)
returns text language plpgsql as $function$
declare
  ends_at timestamptz := clock_timestamp() + p_retention;
begin
  insert into ${schema}.events as event (scope, key, first_expires_at, expires_at)
  values (p_scope, p_key, ends_at, ends_at)
  on conflict (scope, key) do update set
    token = null, expires_at = ends_at, first_claimed_at = null, counted_at = null, lease_ends_at = null,
    attempt = null, spaced_attempts = null, abandoned = null, handled = null, refused = null,
    first_expires_at =
      case when event.expires_at <= clock_timestamp() then ends_at else event.first_expires_at end;
  return 'completed';
end $function$;

-- Refuses claims of a token, also on an id that is absent.
create or replace function ${schema}.refuse_claims(p_scope text, p_key text, p_token text, p_time interval)
returns void language plpgsql as $function$
declare
  moment timestamptz := clock_timestamp();
begin
  delete from ${schema}.events where scope = p_scope and key = p_key and expires_at <= moment;
  insert into ${schema}.events as event (
    scope, key, token, first_expires_at, expires_at, first_claimed_at, counted_at, attempt, spaced_attempts,
    abandoned, refused
  ) values (
    p_scope, p_key, '', moment + p_time, moment + p_time, moment, moment, 0, 0,
    0, jsonb_build_object(p_token, extract(epoch from moment + p_time) * 1000)
  ) on conflict (scope, key) do update set
    expires_at = greatest(event.expires_at, excluded.expires_at),
    refused = excluded.refused || coalesce(
      (
        select jsonb_object_agg(token, until) from (
          select token, until from jsonb_each(event.refused) as others(token, until)
          where token <> p_token and until::float8 > extract(epoch from moment) * 1000
          order by until::float8 desc limit ${MOST_REFUSED - 1}
        ) as latest
      ),
      '{}'
    )
  where event.token is not null;
end $function$;

create or replace function ${schema}.release(
  p_scope text, p_key text, p_token text, p_retention interval, p_handled text
) returns text language plpgsql as $function$
declare
  moment timestamptz;
  event ${schema}.events%rowtype;
begin
  select * into event from ${schema}.events where scope = p_scope and key = p_key for update;
  moment := clock_timestamp();
  if not found or event.expires_at <= moment then return 'lost'; end if;
  if event.token is null then return 'completed'; end if;
  if event.token <> p_token then return 'lost'; end if;
  update ${schema}.events set
    lease_ends_at = null, expires_at = moment + p_retention,
    handled = coalesce(nullif(p_handled, ''), event.handled)
  where scope = p_scope and key = p_key;
  return 'released';
end $function$;

create or replace function ${schema}.peek(p_scope text, p_key text) returns text language sql as $function$
select coalesce(
  (
    select case
      when token is null then 'completed'
      when lease_ends_at > clock_timestamp() then 'running'
    end
    from ${schema}.events
    where scope = p_scope and key = p_key and expires_at > clock_timestamp()
  ),
  'unknown'
)
$function$;

-- Runs operations in their order, and returns the time in milliseconds and the result of each, in lines. The
-- lease of a release is the time for which it refuses claims of its token.
create or replace function ${schema}.operate(
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
      result := ${schema}.claim(
        p_scope, p_keys[i], p_tokens[i], lease, retention,
        p_details[i]::float8 * interval '1 millisecond', not_after
      );
    elsif p_names[i] = 'renew' then
      result := ${schema}.renew(p_scope, p_keys[i], p_tokens[i], lease, retention, not_after);
    elsif p_names[i] = 'complete' then
      result := ${schema}.complete(p_scope, p_keys[i], retention);
    elsif p_names[i] = 'peek' then
      result := ${schema}.peek(p_scope, p_keys[i]);
    else
      if lease > '0' then perform ${schema}.refuse_claims(p_scope, p_keys[i], p_tokens[i], lease); end if;
      retention := greatest(retention, lease);
      result := ${schema}.release(p_scope, p_keys[i], p_tokens[i], retention, p_details[i]);
    end if;
    results := results || E'\\n' || result;
  end loop;
  return extract(epoch from clock_timestamp()) * 1000 || results;
end $function$;

-- Deletes expired rows, the oldest first, and returns how many; nothing while another process does so.
create or replace function ${schema}.clean(p_limit integer) returns integer language plpgsql
set enable_seqscan = off as $function$
declare
  moment timestamptz := clock_timestamp();
  deleted integer;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('posthorn.clean ${schema}', 0)) then return 0; end if;
  delete from ${schema}.events where ctid = any (array(
    select ctid from ${schema}.events
    where first_expires_at <= moment and expires_at <= moment
    order by first_expires_at limit p_limit for update skip locked
  ));
  get diagnostics deleted = row_count;
  return deleted;
end $function$;

create or replace function ${schema}.milliseconds(p_time interval) returns text language sql immutable
as $function$ select greatest(0, ceil(extract(epoch from p_time) * 1000))::bigint::text $function$;
`;
}
