--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: posthorn; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA posthorn;


--
-- Name: claim(text, text, text, interval, interval, interval, timestamp with time zone); Type: FUNCTION; Schema: posthorn; Owner: -
--

CREATE FUNCTION posthorn.claim(p_scope text, p_key text, p_token text, p_lease interval, p_retention interval, p_spacing interval, p_not_after timestamp with time zone) RETURNS text
    LANGUAGE plpgsql
    AS $$
declare
  moment timestamptz;
  event "posthorn".events%rowtype;
  refused_until timestamptz;
  counted integer := case when "posthorn".is_hold(p_token) then 0 else 1 end;
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
      counted, counted, 0
    ) on conflict do nothing;
    if found then
      if clock_timestamp() <= p_not_after then return 'claimed 1 0 0 ' || counted || ' '; end if;
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
      refused_until := to_timestamp((event.refused ->> p_token)::float8 / 1000);
      if refused_until > moment then return 'busy ' || "posthorn".milliseconds(refused_until - moment); end if;
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
    if event.lease_ends_at is not null and not "posthorn".is_hold(event.token) then
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
  update "posthorn".events set
    token = p_token, first_expires_at = event.first_expires_at, expires_at = moment + p_retention,
    first_claimed_at = event.first_claimed_at, counted_at = event.counted_at,
    lease_ends_at = moment + p_lease, attempt = event.attempt, spaced_attempts = event.spaced_attempts,
    abandoned = event.abandoned, handled = event.handled, refused = event.refused
  where scope = p_scope and key = p_key;
  return concat_ws(' ',
    'claimed', event.attempt + 1 - counted, event.abandoned, "posthorn".milliseconds(moment - event.first_claimed_at),
    event.spaced_attempts, coalesce(event.handled, '')
  );
end $$;


--
-- Name: clean(integer); Type: FUNCTION; Schema: posthorn; Owner: -
--

CREATE FUNCTION posthorn.clean(p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
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
end $$;


--
-- Name: complete(text, text, interval); Type: FUNCTION; Schema: posthorn; Owner: -
--

CREATE FUNCTION posthorn.complete(p_scope text, p_key text, p_retention interval) RETURNS text
    LANGUAGE plpgsql
    AS $$
declare
  ends_at timestamptz := clock_timestamp() + p_retention;
begin
  insert into "posthorn".events as event (scope, key, first_expires_at, expires_at)
  values (p_scope, p_key, ends_at, ends_at)
  on conflict (scope, key) do update set
    token = null, expires_at = ends_at, first_claimed_at = null, counted_at = null, lease_ends_at = null,
    attempt = null, spaced_attempts = null, abandoned = null, handled = null, refused = null,
    first_expires_at =
      case when event.expires_at <= clock_timestamp() then ends_at else event.first_expires_at end;
  return 'completed';
end $$;


--
-- Name: is_hold(text); Type: FUNCTION; Schema: posthorn; Owner: -
--

CREATE FUNCTION posthorn.is_hold(p_token text) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$ select p_token like 'hold:%' $$;


--
-- Name: milliseconds(interval); Type: FUNCTION; Schema: posthorn; Owner: -
--

CREATE FUNCTION posthorn.milliseconds(p_time interval) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$ select greatest(0, ceil(extract(epoch from p_time) * 1000))::bigint::text $$;


--
-- Name: operate(integer, text, double precision[], text[], text[], text[], double precision[], double precision[], text[]); Type: FUNCTION; Schema: posthorn; Owner: -
--

CREATE FUNCTION posthorn.operate(p_lock_timeout_ms integer, p_scope text, p_not_after double precision[], p_names text[], p_keys text[], p_tokens text[], p_leases_ms double precision[], p_retentions_ms double precision[], p_details text[]) RETURNS text
    LANGUAGE plpgsql
    AS $$
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
    elsif p_names[i] = 'peek' then
      result := "posthorn".peek(p_scope, p_keys[i]);
    else
      if lease > '0' then perform "posthorn".refuse_claims(p_scope, p_keys[i], p_tokens[i], lease); end if;
      retention := greatest(retention, lease);
      result := "posthorn".release(p_scope, p_keys[i], p_tokens[i], retention, p_details[i]);
    end if;
    results := results || E'\n' || result;
  end loop;
  return extract(epoch from clock_timestamp()) * 1000 || results;
end $$;


--
-- Name: peek(text, text); Type: FUNCTION; Schema: posthorn; Owner: -
--

CREATE FUNCTION posthorn.peek(p_scope text, p_key text) RETURNS text
    LANGUAGE sql
    AS $$
select coalesce(
  (
    select case
      when token is null then 'completed'
      when lease_ends_at > clock_timestamp() then 'running'
    end
    from "posthorn".events
    where scope = p_scope and key = p_key and expires_at > clock_timestamp()
  ),
  'unknown'
)
$$;


--
-- Name: record_handled(text, text, text, text, text, timestamp with time zone); Type: FUNCTION; Schema: posthorn; Owner: -
--

CREATE FUNCTION posthorn.record_handled(p_scope text, p_event_key text, p_handler text, p_idle text, p_latest_key text, p_created_at timestamp with time zone) RETURNS text
    LANGUAGE plpgsql
    SET lock_timeout TO '100ms'
    AS $$
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
end $$;


--
-- Name: record_ranked(text, text, text, text, text, timestamp with time zone, bigint); Type: FUNCTION; Schema: posthorn; Owner: -
--

CREATE FUNCTION posthorn.record_ranked(p_scope text, p_event_key text, p_handler text, p_idle text, p_latest_key text, p_created_at timestamp with time zone, p_rank bigint) RETURNS text
    LANGUAGE plpgsql
    SET lock_timeout TO '100ms'
    AS $$
begin
  -- Until the end of the transaction.
  perform set_config('idle_in_transaction_session_timeout', p_idle, true);
  insert into "posthorn".inbox (scope, event_key, handler) values (p_scope, p_event_key, p_handler)
  on conflict do nothing;
  if not found then return 'handled_before'; end if;
  if p_latest_key is not null then
    -- A row that the condition leaves out is locked all the same.
    insert into "posthorn".inbox_latest as latest (scope, handler, key, created_at, rank, rank_at)
    values (p_scope, p_handler, p_latest_key, p_created_at, p_rank, p_created_at)
    on conflict (scope, handler, key) do update
    set created_at = excluded.created_at, rank = excluded.rank, rank_at = excluded.rank_at
    where (excluded.created_at, excluded.rank) >=
      (latest.created_at, case when latest.rank_at = latest.created_at then latest.rank else 0 end);
    if not found then return 'superseded'; end if;
  end if;
  return pg_current_xact_id()::xid::text;
end $$;


--
-- Name: record_rerun(text, text, text, text, text, text, timestamp with time zone, bigint); Type: FUNCTION; Schema: posthorn; Owner: -
--

CREATE FUNCTION posthorn.record_rerun(p_scope text, p_event_key text, p_handler text, p_run text, p_idle text, p_latest_key text, p_created_at timestamp with time zone, p_rank bigint) RETURNS text
    LANGUAGE plpgsql
    SET lock_timeout TO '100ms'
    AS $$
begin
  -- Until the end of the transaction.
  perform set_config('idle_in_transaction_session_timeout', p_idle, true);
  -- A row that is there stays as it is, and is locked.
  insert into "posthorn".inbox (scope, event_key, handler) values (p_scope, p_event_key, p_handler)
  on conflict (scope, event_key, handler) do update set handled_at = excluded.handled_at where false;
  insert into "posthorn".inbox_reruns (scope, event_key, handler, run)
  values (p_scope, p_event_key, p_handler, p_run) on conflict do nothing;
  if not found then return 'handled_before'; end if;
  if p_latest_key is not null then
    -- A row that the condition leaves out is locked all the same.
    insert into "posthorn".inbox_latest as latest (scope, handler, key, created_at, rank, rank_at)
    values (p_scope, p_handler, p_latest_key, p_created_at, p_rank, p_created_at)
    on conflict (scope, handler, key) do update
    set created_at = excluded.created_at, rank = excluded.rank, rank_at = excluded.rank_at
    where (excluded.created_at, excluded.rank) >=
      (latest.created_at, case when latest.rank_at = latest.created_at then latest.rank else 0 end);
    if not found then return 'superseded'; end if;
  end if;
  return pg_current_xact_id()::xid::text;
end $$;


--
-- Name: refuse_claims(text, text, text, interval); Type: FUNCTION; Schema: posthorn; Owner: -
--

CREATE FUNCTION posthorn.refuse_claims(p_scope text, p_key text, p_token text, p_time interval) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  moment timestamptz := clock_timestamp();
begin
  delete from "posthorn".events where scope = p_scope and key = p_key and expires_at <= moment;
  insert into "posthorn".events as event (
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
          order by until::float8 desc limit 99
        ) as latest
      ),
      '{}'
    )
  where event.token is not null;
end $$;


--
-- Name: release(text, text, text, interval, text); Type: FUNCTION; Schema: posthorn; Owner: -
--

CREATE FUNCTION posthorn.release(p_scope text, p_key text, p_token text, p_retention interval, p_handled text) RETURNS text
    LANGUAGE plpgsql
    AS $$
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
end $$;


--
-- Name: renew(text, text, text, interval, interval, timestamp with time zone); Type: FUNCTION; Schema: posthorn; Owner: -
--

CREATE FUNCTION posthorn.renew(p_scope text, p_key text, p_token text, p_lease interval, p_retention interval, p_not_after timestamp with time zone) RETURNS text
    LANGUAGE plpgsql
    AS $$
declare
  moment timestamptz;
  event "posthorn".events%rowtype;
  claimed text;
begin
  select * into event from "posthorn".events where scope = p_scope and key = p_key for update;
  moment := clock_timestamp();
  if moment > p_not_after then return 'late'; end if;
  if not found or event.expires_at <= moment or event.token = '' then
    claimed := "posthorn".claim(p_scope, p_key, p_token, p_lease, p_retention, '0', p_not_after);
    return case when claimed like 'claimed%' then 'held' when claimed like 'busy%' then 'lost' else claimed end;
  end if;
  if event.token is null then return 'completed'; end if;
  if event.token <> p_token or event.lease_ends_at is null then return 'lost'; end if;
  update "posthorn".events set lease_ends_at = moment + p_lease, expires_at = moment + p_retention
  where scope = p_scope and key = p_key;
  return 'held';
end $$;


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: dead_letters; Type: TABLE; Schema: posthorn; Owner: -
--

CREATE TABLE posthorn.dead_letters (
    scope text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    parked_at bigint NOT NULL,
    "position" bigint NOT NULL,
    removed_at timestamp with time zone,
    letter text
);


--
-- Name: dead_letters_position_seq; Type: SEQUENCE; Schema: posthorn; Owner: -
--

ALTER TABLE posthorn.dead_letters ALTER COLUMN "position" ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME posthorn.dead_letters_position_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: events; Type: TABLE; Schema: posthorn; Owner: -
--

CREATE TABLE posthorn.events (
    first_expires_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    first_claimed_at timestamp with time zone,
    counted_at timestamp with time zone,
    lease_ends_at timestamp with time zone,
    attempt integer,
    spaced_attempts integer,
    abandoned integer,
    scope text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    token text,
    handled text,
    refused jsonb
)
WITH (fillfactor='85');


--
-- Name: inbox; Type: TABLE; Schema: posthorn; Owner: -
--

CREATE TABLE posthorn.inbox (
    scope text NOT NULL COLLATE pg_catalog."C",
    event_key text NOT NULL COLLATE pg_catalog."C",
    handler text NOT NULL COLLATE pg_catalog."C",
    handled_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: inbox_latest; Type: TABLE; Schema: posthorn; Owner: -
--

CREATE TABLE posthorn.inbox_latest (
    scope text NOT NULL COLLATE pg_catalog."C",
    handler text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL,
    rank bigint,
    rank_at timestamp with time zone
);


--
-- Name: inbox_reruns; Type: TABLE; Schema: posthorn; Owner: -
--

CREATE TABLE posthorn.inbox_reruns (
    scope text NOT NULL COLLATE pg_catalog."C",
    event_key text NOT NULL COLLATE pg_catalog."C",
    handler text NOT NULL COLLATE pg_catalog."C",
    run text NOT NULL COLLATE pg_catalog."C",
    handled_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: journal; Type: TABLE; Schema: posthorn; Owner: -
--

CREATE TABLE posthorn.journal (
    first_received_at bigint NOT NULL,
    last_received_at bigint NOT NULL,
    decided_at bigint NOT NULL,
    created_at double precision,
    deliveries integer NOT NULL,
    attempts integer NOT NULL,
    finality smallint NOT NULL,
    scope text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    event_key text,
    id text NOT NULL,
    type text,
    provider text NOT NULL,
    account text,
    outcome text NOT NULL,
    code text,
    resource text,
    handled text[] NOT NULL,
    batches uuid[] NOT NULL,
    headers json,
    raw_body bytea
)
WITH (fillfactor='85');


--
-- Name: migrations; Type: TABLE; Schema: posthorn; Owner: -
--

CREATE TABLE posthorn.migrations (
    version integer NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: ledger; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.ledger (
    event_id text
);


--
-- Name: states; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.states (
    id text NOT NULL,
    event_id text,
    created_at timestamp with time zone
);


--
-- Data for Name: dead_letters; Type: TABLE DATA; Schema: posthorn; Owner: -
--

INSERT INTO posthorn.dead_letters (scope, key, parked_at, "position", removed_at, letter) VALUES ('stored', 'evt_refused', 1796060536137, 1, NULL, '{"id":"evt_refused","type":"transfer.updated","reason":"handler_failed_permanently","message":"the handler \"book\" failed: refused for good","headers":{"host":["127.0.0.1:33929"],"connection":["keep-alive"],"content-type":["application/json"],"x-service-signature":["a9d12dff0dc03595759bcda80eeb76ed33eab169d58edbe7f6803000d3c2234f"],"accept":["*/*"],"accept-language":["*"],"sec-fetch-mode":["cors"],"user-agent":["node"],"accept-encoding":["gzip, deflate"],"content-length":["111"]},"receivedAt":1796060536128,"parkedAt":1796060536137,"attempts":1,"handled":["log","after"],"rawBody":"eyJpZCI6ImV2dF9yZWZ1c2VkIiwidHlwZSI6InRyYW5zZmVyLnVwZGF0ZWQiLCJjcmVhdGVkX2F0IjoiMjAyNi0xMS0zMFQxNzo0MjoxNi4xMjRaIiwiZGF0YSI6eyJwbGFuIjoicmVmdXNlIn19"}');
INSERT INTO posthorn.dead_letters (scope, key, parked_at, "position", removed_at, letter) VALUES ('stored', 'evt_last', 1796060536158, 2, NULL, '{"id":"evt_last","type":"transfer.updated","reason":"handler_failed","message":"the handler \"book\" failed: failed for now","headers":{"host":["127.0.0.1:33929"],"connection":["keep-alive"],"content-type":["application/json"],"x-service-signature":["25a4f1e66f5cd37a0a0b1185a2d9439885de32b7e670ffe395f153e0bc122265"],"accept":["*/*"],"accept-language":["*"],"sec-fetch-mode":["cors"],"user-agent":["node"],"accept-encoding":["gzip, deflate"],"content-length":["106"]},"receivedAt":1796060536152,"parkedAt":1796060536158,"lastTriedAt":1796060536166,"attempts":1,"handled":["log","after"],"rawBody":"eyJpZCI6ImV2dF9sYXN0IiwidHlwZSI6InRyYW5zZmVyLnVwZGF0ZWQiLCJjcmVhdGVkX2F0IjoiMjAyNi0xMS0zMFQxNzoxNzoxNi4xNTFaIiwiZGF0YSI6eyJwbGFuIjoiZmFpbCJ9fQ=="}');
INSERT INTO posthorn.dead_letters (scope, key, parked_at, "position", removed_at, letter) VALUES ('stored', 'evt_dropped', 1796060536182, 4, '2026-11-30 17:42:16.206899+00', NULL);
INSERT INTO posthorn.dead_letters (scope, key, parked_at, "position", removed_at, letter) VALUES ('stored', 'a6ebb00015e2929b8f6153ea4bf802d4e89abcbae4a8f8f5745aa325ae6880e4', 1796060536216, 5, NULL, '{"id":"a6ebb00015e2929b8f6153ea4bf802d4e89abcbae4a8f8f5745aa325ae6880e4","reason":"body_not_json","message":"the body is not JSON in strict UTF-8","headers":{"host":["127.0.0.1:33929"],"connection":["keep-alive"],"content-type":["application/json"],"x-service-signature":["f215c976ac7833f642028c1a03715e3c71a62226e6f8543b23e2fc923210a1a2"],"accept":["*/*"],"accept-language":["*"],"sec-fetch-mode":["cors"],"user-agent":["node"],"accept-encoding":["gzip, deflate"],"content-length":["16"]},"receivedAt":1796060536212,"parkedAt":1796060536216,"attempts":0,"handled":[],"rawBody":"dGhpcyBpcyBub3QgSlNPTg=="}');
INSERT INTO posthorn.dead_letters (scope, key, parked_at, "position", removed_at, letter) VALUES ('stored', 'evt_last_running', 1796060536225, 6, NULL, '{"id":"evt_last_running","type":"transfer.updated","reason":"run_abandoned","message":"the process ended while the handlers were running","headers":{"host":["127.0.0.1:33929"],"connection":["keep-alive"],"content-type":["application/json"],"x-service-signature":["12c5209872d3b967569e1bd2eaaea928e1135ee03dfdd48ff08bef69f921751c"],"accept":["*/*"],"accept-language":["*"],"sec-fetch-mode":["cors"],"user-agent":["node"],"accept-encoding":["gzip, deflate"],"content-length":["114"]},"receivedAt":1796060536220,"parkedAt":1796060536225,"attempts":1,"handled":[],"runningUntil":1796060776224,"rawBody":"eyJpZCI6ImV2dF9sYXN0X3J1bm5pbmciLCJ0eXBlIjoidHJhbnNmZXIudXBkYXRlZCIsImNyZWF0ZWRfYXQiOiIyMDI2LTExLTMwVDE3OjE3OjE2LjIxOVoiLCJkYXRhIjp7InBsYW4iOiJoYW5nIn19"}');


--
-- Data for Name: events; Type: TABLE DATA; Schema: posthorn; Owner: -
--

INSERT INTO posthorn.events (first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at, attempt, spaced_attempts, abandoned, scope, key, token, handled, refused) VALUES ('2026-12-01 17:52:15.900429+00', '2026-12-01 17:52:15.920255+00', NULL, NULL, NULL, NULL, NULL, NULL, 'stored', 'evt_done', NULL, NULL, NULL);
INSERT INTO posthorn.events (first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at, attempt, spaced_attempts, abandoned, scope, key, token, handled, refused) VALUES ('2026-12-01 17:52:15.946446+00', '2026-12-01 17:52:15.958351+00', NULL, NULL, NULL, NULL, NULL, NULL, 'stored', 'sha256:UoP1ljGpDIfhYxVr1KacR-ARyhJp1iqJAeXieb270Ec', NULL, NULL, NULL);
INSERT INTO posthorn.events (first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at, attempt, spaced_attempts, abandoned, scope, key, token, handled, refused) VALUES ('2026-12-01 17:52:15.970152+00', '2026-12-01 17:52:15.986612+00', '2026-11-30 17:42:15.976152+00', '2026-11-30 17:42:15.976152+00', NULL, 1, 1, 0, 'stored', 'evt_failed', 'tWGJIqZP2Sp5ahq0XZv83', '["log","after"]', NULL);
INSERT INTO posthorn.events (first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at, attempt, spaced_attempts, abandoned, scope, key, token, handled, refused) VALUES ('2026-12-01 17:52:15.995775+00', '2026-12-01 17:52:15.995775+00', '2026-11-30 17:42:16.002775+00', '2026-11-30 17:42:16.002775+00', '2026-11-30 17:42:36.002775+00', 1, 1, 0, 'stored', 'evt_running', 'tWGJIqZP2Sp5ahq0XZv84', NULL, NULL);
INSERT INTO posthorn.events (first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at, attempt, spaced_attempts, abandoned, scope, key, token, handled, refused) VALUES ('2026-12-01 17:52:16.029152+00', '2026-12-01 17:52:16.029152+00', '2026-11-30 17:42:16.030152+00', '2026-11-30 17:42:16.030152+00', '2026-11-30 17:42:36.030152+00', 1, 1, 0, 'stored', 'evt_half_done', 'tWGJIqZP2Sp5ahq0XZv85', NULL, NULL);
INSERT INTO posthorn.events (first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at, attempt, spaced_attempts, abandoned, scope, key, token, handled, refused) VALUES ('2026-11-30 17:42:36.073109+00', '2026-11-30 17:42:36.073109+00', '2026-11-30 17:42:16.073109+00', '2026-11-30 17:42:16.073109+00', NULL, 0, 0, 0, 'stored', 'evt_unclaimed', '', NULL, '{"tWGJIqZP2Sp5ahq0XZv86": 1796060556073.109000}');
INSERT INTO posthorn.events (first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at, attempt, spaced_attempts, abandoned, scope, key, token, handled, refused) VALUES ('2026-12-01 17:52:16.063527+00', '2026-12-01 17:52:16.074448+00', '2026-11-30 17:42:16.072527+00', '2026-11-30 17:42:16.072527+00', NULL, 1, 1, 0, 'stored', 'evt_unanswered', 'tWGJIqZP2Sp5ahq0XZv87', NULL, '{"tWGJIqZP2Sp5ahq0XZv87": 1796060556083.079000}');
INSERT INTO posthorn.events (first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at, attempt, spaced_attempts, abandoned, scope, key, token, handled, refused) VALUES ('2026-12-01 17:52:16.086166+00', '2026-12-01 17:52:16.091798+00', NULL, NULL, NULL, NULL, NULL, NULL, 'stored', 'evt_state', NULL, NULL, NULL);
INSERT INTO posthorn.events (first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at, attempt, spaced_attempts, abandoned, scope, key, token, handled, refused) VALUES ('2026-12-01 17:52:16.10103+00', '2026-12-01 17:52:16.114418+00', NULL, NULL, NULL, NULL, NULL, NULL, 'stored', 'handled:rerun:5:state:3:fix:evt_state', NULL, NULL, NULL);
INSERT INTO posthorn.events (first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at, attempt, spaced_attempts, abandoned, scope, key, token, handled, refused) VALUES ('2026-12-01 17:52:16.103018+00', '2026-12-01 17:52:16.118441+00', '2026-11-30 17:42:16.108018+00', '2026-11-30 17:42:16.108018+00', NULL, 0, 0, 0, 'stored', 'handled:rerun-turn:5:state:evt_state', 'hold:tWGJIqZP2Sp5ahq0XZv89', NULL, NULL);
INSERT INTO posthorn.events (first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at, attempt, spaced_attempts, abandoned, scope, key, token, handled, refused) VALUES ('2026-12-01 17:42:16.153224+00', '2026-12-01 17:42:16.167787+00', '2026-11-30 17:42:16.153224+00', '2026-11-30 17:42:16.153224+00', NULL, 1, 1, 0, 'stored', 'evt_last', 'tWGJIqZP2Sp5ahq0XZv812', '["log","after"]', NULL);
INSERT INTO posthorn.events (first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at, attempt, spaced_attempts, abandoned, scope, key, token, handled, refused) VALUES ('2026-12-01 17:52:16.170209+00', '2026-12-01 17:52:16.171615+00', NULL, NULL, NULL, NULL, NULL, NULL, 'stored', 'evt_dropped', NULL, NULL, NULL);
INSERT INTO posthorn.events (first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at, attempt, spaced_attempts, abandoned, scope, key, token, handled, refused) VALUES ('2026-12-01 17:42:16.220992+00', '2026-12-01 17:42:16.220992+00', '2026-11-30 17:42:16.220992+00', '2026-11-30 17:42:16.220992+00', '2026-11-30 17:42:36.220992+00', 1, 1, 0, 'stored', 'evt_last_running', 'tWGJIqZP2Sp5ahq0XZv815', NULL, NULL);
INSERT INTO posthorn.events (first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at, attempt, spaced_attempts, abandoned, scope, key, token, handled, refused) VALUES ('2026-12-01 17:52:16.126+00', '2026-12-01 17:52:16.125768+00', '2026-11-30 17:42:16.13+00', '2026-11-30 17:42:16.13+00', '2026-11-30 17:42:36.237768+00', 1, 1, 0, 'stored', 'evt_refused', 'hold:tWGJIqZP2Sp5ahq0XZv816', '["log","after"]', NULL);


--
-- Data for Name: inbox; Type: TABLE DATA; Schema: posthorn; Owner: -
--

INSERT INTO posthorn.inbox (scope, event_key, handler, handled_at) VALUES ('stored', 'evt_done', 'book', '2026-11-30 17:42:15.92502+00');
INSERT INTO posthorn.inbox (scope, event_key, handler, handled_at) VALUES ('stored', 'sha256:UoP1ljGpDIfhYxVr1KacR-ARyhJp1iqJAeXieb270Ec', 'book', '2026-11-30 17:42:15.954627+00');
INSERT INTO posthorn.inbox (scope, event_key, handler, handled_at) VALUES ('stored', 'evt_half_done', 'book', '2026-11-30 17:42:16.039932+00');
INSERT INTO posthorn.inbox (scope, event_key, handler, handled_at) VALUES ('stored', 'evt_state', 'state', '2026-11-30 17:42:16.089364+00');


--
-- Data for Name: inbox_latest; Type: TABLE DATA; Schema: posthorn; Owner: -
--

INSERT INTO posthorn.inbox_latest (scope, handler, key, created_at, rank, rank_at) VALUES ('stored', 'state', 'SUB1', '2026-11-30 17:42:16.1+00', 0, '2026-11-30 17:42:16.1+00');


--
-- Data for Name: inbox_reruns; Type: TABLE DATA; Schema: posthorn; Owner: -
--

INSERT INTO posthorn.inbox_reruns (scope, event_key, handler, run, handled_at) VALUES ('stored', 'evt_state', 'state', 'fix', '2026-11-30 17:42:16.10993+00');


--
-- Data for Name: journal; Type: TABLE DATA; Schema: posthorn; Owner: -
--



--
-- Data for Name: migrations; Type: TABLE DATA; Schema: posthorn; Owner: -
--

INSERT INTO posthorn.migrations (version, applied_at) VALUES (1, '2026-11-30 17:42:15.823823+00');
INSERT INTO posthorn.migrations (version, applied_at) VALUES (2, '2026-11-30 17:42:15.823823+00');
INSERT INTO posthorn.migrations (version, applied_at) VALUES (3, '2026-11-30 17:42:15.823823+00');
INSERT INTO posthorn.migrations (version, applied_at) VALUES (4, '2026-11-30 17:42:15.823823+00');
INSERT INTO posthorn.migrations (version, applied_at) VALUES (5, '2026-11-30 17:42:15.823823+00');


--
-- Data for Name: ledger; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.ledger (event_id) VALUES ('evt_done');
INSERT INTO public.ledger (event_id) VALUES ('evt_done_long_long_long_long_long_long_long_long_long_long_long_long_long_long_long_long_');
INSERT INTO public.ledger (event_id) VALUES ('evt_half_done');


--
-- Data for Name: states; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.states (id, event_id, created_at) VALUES ('SUB1', 'evt_state', '2026-11-30 17:42:16.1+00');


--
-- Name: dead_letters_position_seq; Type: SEQUENCE SET; Schema: posthorn; Owner: -
--

SELECT pg_catalog.setval('posthorn.dead_letters_position_seq', 6, true);


--
-- Name: dead_letters dead_letters_pkey; Type: CONSTRAINT; Schema: posthorn; Owner: -
--

ALTER TABLE ONLY posthorn.dead_letters
    ADD CONSTRAINT dead_letters_pkey PRIMARY KEY (scope, key);


--
-- Name: events events_pkey; Type: CONSTRAINT; Schema: posthorn; Owner: -
--

ALTER TABLE ONLY posthorn.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (scope, key);


--
-- Name: inbox_latest inbox_latest_pkey; Type: CONSTRAINT; Schema: posthorn; Owner: -
--

ALTER TABLE ONLY posthorn.inbox_latest
    ADD CONSTRAINT inbox_latest_pkey PRIMARY KEY (scope, handler, key);


--
-- Name: inbox inbox_pkey; Type: CONSTRAINT; Schema: posthorn; Owner: -
--

ALTER TABLE ONLY posthorn.inbox
    ADD CONSTRAINT inbox_pkey PRIMARY KEY (scope, event_key, handler);


--
-- Name: inbox_reruns inbox_reruns_pkey; Type: CONSTRAINT; Schema: posthorn; Owner: -
--

ALTER TABLE ONLY posthorn.inbox_reruns
    ADD CONSTRAINT inbox_reruns_pkey PRIMARY KEY (scope, event_key, handler, run);


--
-- Name: journal journal_pkey; Type: CONSTRAINT; Schema: posthorn; Owner: -
--

ALTER TABLE ONLY posthorn.journal
    ADD CONSTRAINT journal_pkey PRIMARY KEY (scope, key);


--
-- Name: migrations migrations_pkey; Type: CONSTRAINT; Schema: posthorn; Owner: -
--

ALTER TABLE ONLY posthorn.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (version);


--
-- Name: states states_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.states
    ADD CONSTRAINT states_pkey PRIMARY KEY (id);


--
-- Name: dead_letters_in_order; Type: INDEX; Schema: posthorn; Owner: -
--

CREATE INDEX dead_letters_in_order ON posthorn.dead_letters USING btree (scope, parked_at, "position") WHERE (letter IS NOT NULL);


--
-- Name: dead_letters_removed; Type: INDEX; Schema: posthorn; Owner: -
--

CREATE INDEX dead_letters_removed ON posthorn.dead_letters USING btree (removed_at) WHERE (removed_at IS NOT NULL);


--
-- Name: events_first_expires_at; Type: INDEX; Schema: posthorn; Owner: -
--

CREATE INDEX events_first_expires_at ON posthorn.events USING btree (first_expires_at);


--
-- Name: journal_by_id; Type: INDEX; Schema: posthorn; Owner: -
--

CREATE INDEX journal_by_id ON posthorn.journal USING btree (scope, "left"(id, 200)) WHERE (event_key IS NOT NULL);


--
-- Name: journal_by_resource; Type: INDEX; Schema: posthorn; Owner: -
--

CREATE INDEX journal_by_resource ON posthorn.journal USING btree (scope, "left"(resource, 200), first_received_at, key) WHERE (resource IS NOT NULL);


--
-- Name: journal_in_order; Type: INDEX; Schema: posthorn; Owner: -
--

CREATE INDEX journal_in_order ON posthorn.journal USING btree (scope, first_received_at, key);


--
-- PostgreSQL database dump complete
--


