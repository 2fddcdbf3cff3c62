import { alterTable } from '../alter-table.ts';

/**
 * Creates the function by which the inbox records that a handler has handled an event. It returns the number
 * of the transaction, or why the handler is not to run: the record is there already (`handled_before`), or a
 * newer event of the key has been handled (`superseded`). `schema` is quoted.
 *
 * PostgreSQL keeps the plans of a function, and the function's `lock_timeout` ends with it: later statements
 * of the handler are not limited. The timeout is short, so that a run that waits for the row of another run
 * soon gives its connection back, for runs that could go on.
 */
export function recordHandledSql(schema: string): string {
  return `
create function ${schema}.record_handled(
  p_scope text, p_event_key text, p_handler text, p_idle text, p_latest_key text, p_created_at timestamptz
) returns text language plpgsql set lock_timeout = '100ms' as $function$
begin
  -- Until the end of the transaction.
  perform set_config('idle_in_transaction_session_timeout', p_idle, true);
  insert into ${schema}.inbox (scope, event_key, handler) values (p_scope, p_event_key, p_handler)
  on conflict do nothing;
  if not found then return 'handled_before'; end if;
  if p_latest_key is not null then
    -- A row that the condition leaves out is locked all the same.
    insert into ${schema}.inbox_latest as latest (scope, handler, key, created_at)
    values (p_scope, p_handler, p_latest_key, p_created_at)
    on conflict (scope, handler, key) do update set created_at = excluded.created_at
    where excluded.created_at >= latest.created_at;
    if not found then return 'superseded'; end if;
  end if;
  return pg_current_xact_id()::xid::text;
end $function$;
`;
}

/**
 * Adds ranks to the events that `latest` remembers, and the function that compares them. Processes of an
 * older version still use `record_handled`, which changes `created_at` and not the rank. So a rank counts
 * only if `rank_at` equals `created_at`; otherwise it is 0. `schema` is quoted.
 */
export function recordRankedSql(schema: string): string {
  return `
${alterTable(`${schema}.inbox_latest`, 'add column rank bigint, add column rank_at timestamptz')}

create function ${schema}.record_ranked(
  p_scope text, p_event_key text, p_handler text, p_idle text,
  p_latest_key text, p_created_at timestamptz, p_rank bigint
) returns text language plpgsql set lock_timeout = '100ms' as $function$
begin
  -- Until the end of the transaction.
  perform set_config('idle_in_transaction_session_timeout', p_idle, true);
  insert into ${schema}.inbox (scope, event_key, handler) values (p_scope, p_event_key, p_handler)
  on conflict do nothing;
  if not found then return 'handled_before'; end if;
${checkLatest(schema)}
end $function$;
`;
}

/**
 * The second half of the functions that know ranks. A released one never changes, so this does not either.
 */
function checkLatest(schema: string): string {
  return `  if p_latest_key is not null then
    -- A row that the condition leaves out is locked all the same.
    insert into ${schema}.inbox_latest as latest (scope, handler, key, created_at, rank, rank_at)
    values (p_scope, p_handler, p_latest_key, p_created_at, p_rank, p_created_at)
    on conflict (scope, handler, key) do update
    set created_at = excluded.created_at, rank = excluded.rank, rank_at = excluded.rank_at
    where (excluded.created_at, excluded.rank) >=
      (latest.created_at, case when latest.rank_at = latest.created_at then latest.rank else 0 end);
    if not found then return 'superseded'; end if;
  end if;
  return pg_current_xact_id()::xid::text;`;
}

/**
 * Creates the table of reruns, and the function that records one. A rerun has a row of its own: one row for
 * the event would remember its last rerun only. The row of the event is locked, so that no other run of the
 * handler for the event begins meanwhile. It may be missing: the handler may have come into the inbox later,
 * or the row was pruned. `schema` is quoted.
 */
export function recordRerunSql(schema: string): string {
  return `
create table ${schema}.inbox_reruns (
  scope text collate "C" not null,
  event_key text collate "C" not null,
  handler text collate "C" not null,
  run text collate "C" not null,
  handled_at timestamptz not null default now(),
  primary key (scope, event_key, handler, run)
);

create function ${schema}.record_rerun(
  p_scope text, p_event_key text, p_handler text, p_run text, p_idle text,
  p_latest_key text, p_created_at timestamptz, p_rank bigint
) returns text language plpgsql set lock_timeout = '100ms' as $function$
begin
  -- Until the end of the transaction.
  perform set_config('idle_in_transaction_session_timeout', p_idle, true);
  -- A row that is there stays as it is, and is locked.
  insert into ${schema}.inbox (scope, event_key, handler) values (p_scope, p_event_key, p_handler)
  on conflict (scope, event_key, handler) do update set handled_at = excluded.handled_at where false;
  insert into ${schema}.inbox_reruns (scope, event_key, handler, run)
  values (p_scope, p_event_key, p_handler, p_run) on conflict do nothing;
  if not found then return 'handled_before'; end if;
${checkLatest(schema)}
end $function$;
`;
}
