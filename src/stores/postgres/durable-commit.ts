/**
 * A column for the SELECT of a statement that a 2xx rests on. With `synchronous_commit = off` PostgreSQL
 * confirms a COMMIT that is not on the disk yet, and a crash forgets it: the service would never send that
 * event again. So the transaction raises the setting to `on` for itself. All other settings stay.
 *
 * It is part of a statement that is sent anyway, so it costs no round trip and needs no function of the
 * schema. Nothing is set in the session, which PgBouncer may lend to somebody else next.
 */
export const DURABLE_COMMIT: string = `case when current_setting('synchronous_commit') = 'off'
  then set_config('synchronous_commit', 'on', true) end as durable_commit`;
