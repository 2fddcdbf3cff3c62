import { messageOf, propertyOf } from '../../receiver/values/foreign-values.ts';
import { READ_VERSION } from '../sqlite/tables.ts';
import type { D1Connection } from './connection.ts';
import { d1Migrations } from './migrate.ts';

/** The version of the tables in a database. It grows while isolates run, and they notice. */
export class TablesVersion {
  readonly #connection: D1Connection;
  #isCurrent = false;
  #hasWarned = false;

  constructor(connection: D1Connection) {
    this.#connection = connection;
  }

  /** Returns true if the tables have all that this posthorn needs; otherwise prints once what to run. */
  async isCurrent(): Promise<boolean> {
    if (this.#isCurrent) return true;
    const version = await this.#read();
    this.#isCurrent = version >= d1Migrations.length;
    if (!this.#isCurrent && !this.#hasWarned) {
      this.#hasWarned = true;
      // biome-ignore lint/suspicious/noConsole: tables that lack a migration would go unnoticed
      console.error(
        `posthorn: the tables in D1 have the version ${version}, and this posthorn knows ` +
          `${d1Migrations.length}: write the output of "npx posthorn d1 sql --from ${version}" to a new file in ` +
          'the migrations folder, and run "npx wrangler d1 migrations apply DB --remote"',
      );
    }
    return this.#isCurrent;
  }

  /** The tables of the first version do not say it. */
  async #read(): Promise<number> {
    try {
      const [[row] = []] = await this.#connection.send([READ_VERSION]);
      return Number(propertyOf(row, 'version') ?? 1);
    } catch (error) {
      if (messageOf(error).includes('no such table: posthorn_migrations')) return 1;
      throw error;
    }
  }
}
