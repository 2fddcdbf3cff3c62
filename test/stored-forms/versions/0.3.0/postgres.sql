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
    attempt = null, spaced_attempts = null, abandoned = null, handled = null,
    first_expires_at =
      case when event.expires_at <= clock_timestamp() then ends_at else event.first_expires_at end;
  return 'completed';
end $$;


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
    else
      result := "posthorn".release(p_scope, p_keys[i], p_tokens[i], retention, p_details[i]);
    end if;
    results := results || E'\n' || result;
  end loop;
  return extract(epoch from clock_timestamp()) * 1000 || results;
end $$;


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
  if not found or event.expires_at <= moment then
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
    handled text
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

INSERT INTO posthorn.dead_letters (scope, key, parked_at, "position", removed_at, letter) VALUES ('stored', 'evt_refused', 1795633827258, 1, NULL, '{"id":"evt_refused","type":"transfer.updated","reason":"handler_failed_permanently","message":"the handler \"book\" failed: refused for good","rawBody":"eyJpZCI6ImV2dF9yZWZ1c2VkIiwidHlwZSI6InRyYW5zZmVyLnVwZGF0ZWQiLCJjcmVhdGVkX2F0IjoiMjAyNi0xMS0yNVQxOToxMDoyNy4yNTJaIiwiZGF0YSI6eyJwbGFuIjoicmVmdXNlIn19","headers":{"host":["127.0.0.1:34581"],"connection":["keep-alive"],"content-type":["application/json"],"x-service-signature":["1ab13e104579c2f2156481de298699d01d510c4a43b6eaec56820edd7597688b"],"accept":["*/*"],"accept-language":["*"],"sec-fetch-mode":["cors"],"user-agent":["node"],"accept-encoding":["gzip, deflate"],"content-length":["111"]},"receivedAt":1795633827253,"parkedAt":1795633827258,"attempts":1,"handled":["log","after"]}');
INSERT INTO posthorn.dead_letters (scope, key, parked_at, "position", removed_at, letter) VALUES ('stored', 'evt_last', 1795633827267, 2, NULL, '{"id":"evt_last","type":"transfer.updated","reason":"handler_failed","message":"the handler \"book\" failed: failed for now","rawBody":"eyJpZCI6ImV2dF9sYXN0IiwidHlwZSI6InRyYW5zZmVyLnVwZGF0ZWQiLCJjcmVhdGVkX2F0IjoiMjAyNi0xMS0yNVQxODo0NToyNy4yNjFaIiwiZGF0YSI6eyJwbGFuIjoiZmFpbCJ9fQ==","headers":{"host":["127.0.0.1:34581"],"connection":["keep-alive"],"content-type":["application/json"],"x-service-signature":["7be70de6e16f6eabadb63068548955b7644a008cfd00c3e41a0cf976f6fa8a8f"],"accept":["*/*"],"accept-language":["*"],"sec-fetch-mode":["cors"],"user-agent":["node"],"accept-encoding":["gzip, deflate"],"content-length":["106"]},"receivedAt":1795633827262,"parkedAt":1795633827267,"lastTriedAt":1795633827270,"attempts":1,"handled":["log","after"]}');
INSERT INTO posthorn.dead_letters (scope, key, parked_at, "position", removed_at, letter) VALUES ('stored', 'evt_dropped', 1795633827277, 4, '2026-11-25 19:10:27.285136+00', NULL);
INSERT INTO posthorn.dead_letters (scope, key, parked_at, "position", removed_at, letter) VALUES ('stored', 'a6ebb00015e2929b8f6153ea4bf802d4e89abcbae4a8f8f5745aa325ae6880e4', 1795633827287, 5, NULL, '{"id":"a6ebb00015e2929b8f6153ea4bf802d4e89abcbae4a8f8f5745aa325ae6880e4","reason":"body_not_json","message":"the body is not JSON in strict UTF-8","rawBody":"dGhpcyBpcyBub3QgSlNPTg==","headers":{"host":["127.0.0.1:34581"],"connection":["keep-alive"],"content-type":["application/json"],"x-service-signature":["f215c976ac7833f642028c1a03715e3c71a62226e6f8543b23e2fc923210a1a2"],"accept":["*/*"],"accept-language":["*"],"sec-fetch-mode":["cors"],"user-agent":["node"],"accept-encoding":["gzip, deflate"],"content-length":["16"]},"receivedAt":1795633827286,"parkedAt":1795633827287,"attempts":0,"handled":[]}');
INSERT INTO posthorn.dead_letters (scope, key, parked_at, "position", removed_at, letter) VALUES ('stored', 'evt_last_running', 1795633827292, 6, NULL, '{"id":"evt_last_running","type":"transfer.updated","reason":"run_abandoned","message":"the process ended while the handlers were running","rawBody":"eyJpZCI6ImV2dF9sYXN0X3J1bm5pbmciLCJ0eXBlIjoidHJhbnNmZXIudXBkYXRlZCIsImNyZWF0ZWRfYXQiOiIyMDI2LTExLTI1VDE4OjQ1OjI3LjI4OVoiLCJkYXRhIjp7InBsYW4iOiJoYW5nIn19","headers":{"host":["127.0.0.1:34581"],"connection":["keep-alive"],"content-type":["application/json"],"x-service-signature":["b1e1ff8af5aaee43f633a5bb2c92eda700ec8096ac7f46419bba32bd63fdd6fd"],"accept":["*/*"],"accept-language":["*"],"sec-fetch-mode":["cors"],"user-agent":["node"],"accept-encoding":["gzip, deflate"],"content-length":["114"]},"receivedAt":1795633827290,"parkedAt":1795633827292,"attempts":1,"handled":[],"runningUntil":1795634067292}');


--
-- Data for Name: events; Type: TABLE DATA; Schema: posthorn; Owner: -
--

INSERT INTO posthorn.events (first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at, attempt, spaced_attempts, abandoned, scope, key, token, handled) VALUES ('2026-11-26 19:20:27.16361+00', '2026-11-26 19:20:27.174841+00', NULL, NULL, NULL, NULL, NULL, NULL, 'stored', 'evt_done', NULL, NULL);
INSERT INTO posthorn.events (first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at, attempt, spaced_attempts, abandoned, scope, key, token, handled) VALUES ('2026-11-26 19:20:27.190451+00', '2026-11-26 19:20:27.19265+00', NULL, NULL, NULL, NULL, NULL, NULL, 'stored', 'sha256:UoP1ljGpDIfhYxVr1KacR-ARyhJp1iqJAeXieb270Ec', NULL, NULL);
INSERT INTO posthorn.events (first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at, attempt, spaced_attempts, abandoned, scope, key, token, handled) VALUES ('2026-11-26 19:20:27.197268+00', '2026-11-26 19:20:27.200357+00', '2026-11-25 19:10:27.198268+00', '2026-11-25 19:10:27.198268+00', NULL, 1, 1, 0, 'stored', 'evt_failed', 'bWA75MuajmAM_3sV41xq3', '["log","after"]');
INSERT INTO posthorn.events (first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at, attempt, spaced_attempts, abandoned, scope, key, token, handled) VALUES ('2026-11-26 19:20:27.203177+00', '2026-11-26 19:20:27.203177+00', '2026-11-25 19:10:27.205177+00', '2026-11-25 19:10:27.205177+00', '2026-11-25 19:10:47.205177+00', 1, 1, 0, 'stored', 'evt_running', 'bWA75MuajmAM_3sV41xq4', NULL);
INSERT INTO posthorn.events (first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at, attempt, spaced_attempts, abandoned, scope, key, token, handled) VALUES ('2026-11-26 19:20:27.219088+00', '2026-11-26 19:20:27.219088+00', '2026-11-25 19:10:27.220088+00', '2026-11-25 19:10:27.220088+00', '2026-11-25 19:10:47.220088+00', 1, 1, 0, 'stored', 'evt_half_done', 'bWA75MuajmAM_3sV41xq5', NULL);
INSERT INTO posthorn.events (first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at, attempt, spaced_attempts, abandoned, scope, key, token, handled) VALUES ('2026-11-26 19:20:27.245015+00', '2026-11-26 19:20:27.248567+00', NULL, NULL, NULL, NULL, NULL, NULL, 'stored', 'evt_state', NULL, NULL);
INSERT INTO posthorn.events (first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at, attempt, spaced_attempts, abandoned, scope, key, token, handled) VALUES ('2026-11-26 19:20:27.252875+00', '2026-11-26 19:20:27.257974+00', '2026-11-25 19:10:27.254875+00', '2026-11-25 19:10:27.254875+00', NULL, 1, 1, 0, 'stored', 'evt_refused', 'bWA75MuajmAM_3sV41xq7', '["log","after"]');
INSERT INTO posthorn.events (first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at, attempt, spaced_attempts, abandoned, scope, key, token, handled) VALUES ('2026-11-26 19:10:27.265307+00', '2026-11-26 19:10:27.271999+00', '2026-11-25 19:10:27.265307+00', '2026-11-25 19:10:27.265307+00', NULL, 1, 1, 0, 'stored', 'evt_last', 'bWA75MuajmAM_3sV41xq8', '["log","after"]');
INSERT INTO posthorn.events (first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at, attempt, spaced_attempts, abandoned, scope, key, token, handled) VALUES ('2026-11-26 19:20:27.27419+00', '2026-11-26 19:20:27.274115+00', NULL, NULL, NULL, NULL, NULL, NULL, 'stored', 'evt_dropped', NULL, NULL);
INSERT INTO posthorn.events (first_expires_at, expires_at, first_claimed_at, counted_at, lease_ends_at, attempt, spaced_attempts, abandoned, scope, key, token, handled) VALUES ('2026-11-26 19:10:27.291179+00', '2026-11-26 19:10:27.291179+00', '2026-11-25 19:10:27.291179+00', '2026-11-25 19:10:27.291179+00', '2026-11-25 19:10:47.291179+00', 1, 1, 0, 'stored', 'evt_last_running', 'bWA75MuajmAM_3sV41xq11', NULL);


--
-- Data for Name: inbox; Type: TABLE DATA; Schema: posthorn; Owner: -
--

INSERT INTO posthorn.inbox (scope, event_key, handler, handled_at) VALUES ('stored', 'evt_done', 'book', '2026-11-25 19:10:27.177188+00');
INSERT INTO posthorn.inbox (scope, event_key, handler, handled_at) VALUES ('stored', 'sha256:UoP1ljGpDIfhYxVr1KacR-ARyhJp1iqJAeXieb270Ec', 'book', '2026-11-25 19:10:27.193344+00');
INSERT INTO posthorn.inbox (scope, event_key, handler, handled_at) VALUES ('stored', 'evt_half_done', 'book', '2026-11-25 19:10:27.222915+00');
INSERT INTO posthorn.inbox (scope, event_key, handler, handled_at) VALUES ('stored', 'evt_state', 'state', '2026-11-25 19:10:27.248348+00');


--
-- Data for Name: inbox_latest; Type: TABLE DATA; Schema: posthorn; Owner: -
--

INSERT INTO posthorn.inbox_latest (scope, handler, key, created_at, rank, rank_at) VALUES ('stored', 'state', 'SUB1', '2026-11-25 19:10:27.244+00', 0, '2026-11-25 19:10:27.244+00');


--
-- Data for Name: migrations; Type: TABLE DATA; Schema: posthorn; Owner: -
--

INSERT INTO posthorn.migrations (version, applied_at) VALUES (1, '2026-11-25 19:10:27.143204+00');
INSERT INTO posthorn.migrations (version, applied_at) VALUES (2, '2026-11-25 19:10:27.143204+00');


--
-- Data for Name: ledger; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.ledger (event_id) VALUES ('evt_done');
INSERT INTO public.ledger (event_id) VALUES ('evt_done_long_long_long_long_long_long_long_long_long_long_long_long_long_long_long_long_');
INSERT INTO public.ledger (event_id) VALUES ('evt_half_done');


--
-- Data for Name: states; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.states (id, event_id, created_at) VALUES ('SUB1', 'evt_state', '2026-11-25 19:10:27.244+00');


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
-- PostgreSQL database dump complete
--


