/**
 * A block of PL/pgSQL that changes a table while processes work with it. Those that are running have the
 * table, and those that come after an ALTER that waits for them wait behind it. So it waits for a short time,
 * lets them pass, and waits twice as long, up to 8 of the 25 seconds of a delivery. `table` is quoted.
 */
export function alterTable(table: string, change: string): string {
  return `declare
  former_timeout text := current_setting('lock_timeout');
  wait_ms integer := 500;
begin
  loop
    begin
      perform set_config('lock_timeout', wait_ms || 'ms', true);
      alter table ${table} ${change};
      exit;
    exception when lock_not_available then
      perform pg_sleep(0.5);
      wait_ms := least(wait_ms * 2, 8000);
    end;
  end loop;
  perform set_config('lock_timeout', former_timeout, true);
end;`;
}
