import { messageOf, propertyOf } from '../../receiver/values/foreign-values.ts';
import type { SqlStatement } from '../sqlite/statement.ts';
import { type D1Binding, runBatch } from './client.ts';
import { d1Migrations } from './migrate.ts';

const READ_VERSION: SqlStatement = {
  sql: 'select max(version) as version from posthorn_migrations',
  values: [],
};

/** The version of the tables in a database. It grows while isolates run, and they notice. */
export class TablesVersion {
  readonly #binding: D1Binding;
  #isCurrent = false;
  #hasWarned = false;

  constructor(binding: D1Binding) {
    this.#binding = binding;
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
      const [[row] = []] = await runBatch(this.#binding, [READ_VERSION]);
      return Number(propertyOf(row, 'version') ?? 1);
    } catch (error) {
      if (messageOf(error).includes('no such table: posthorn_migrations')) return 1;
      throw error;
    }
  }
}
