import type { Connection } from './driver.ts';

/** Makes a connection go by a clock of the test, in milliseconds: a function of SQLite can be replaced. */
export function setClock(connection: Connection, now: () => number): void {
  connection.function('unixepoch', (_modifier: string) => now() / 1_000);
}
