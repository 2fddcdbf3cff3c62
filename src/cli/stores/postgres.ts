import type { Pool } from 'pg';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import { isRefusedConnection } from '../../stores/postgres/errors.ts';
import { CommandError, codeOf, usageError } from '../failure.ts';
import { pgVersions } from '../manifest.ts';

/** Checks the address of a database. Messages do not quote it, because it may hold a password. */
export function requirePostgresUrl(url: string | undefined, sources: string): string {
  if (url !== undefined && /^postgres(ql)?:\/\//.test(url)) return url;
  throw usageError(`the address of PostgreSQL is missing or wrong: ${sources} must begin with postgres://`);
}

/** Opens a pool for as long as `use` takes. */
export async function withPool(url: string, use: (pool: Pool) => Promise<void>): Promise<void> {
  const { default: pg } = await loadPg();
  const pool = new pg.Pool({ connectionString: url, max: 2, connectionTimeoutMillis: 5_000 });
  // A lost connection shows in the queries that need it.
  pool.on('error', () => {});
  try {
    await pool.query('select 1').catch((cause: unknown) => {
      throw connectionError(cause);
    });
    await use(pool);
  } finally {
    await pool.end();
  }
}

function connectionError(cause: unknown): CommandError {
  const message = messageOf(cause);
  // pg itself fails if the server asks for a password that the address does not have.
  const isPasswordMissing = /^SASL: .* password must be /.test(message);
  if (isRefusedConnection(cause) || isPasswordMissing) {
    const reason = isPasswordMissing ? 'the address has no password, and the server asks for one' : message;
    const wayOut = 'correct the database, the user or the password in the address';
    return new CommandError('failed', `PostgreSQL refuses the connection: ${reason}; ${wayOut}`, { cause });
  }
  return new CommandError('unreachable', `PostgreSQL cannot be reached: ${message}`, { cause });
}

/** Loads pg, which is installed only where it is used, or says how to install it. */
async function loadPg(): Promise<typeof import('pg')> {
  try {
    return await import('pg');
  } catch (cause) {
    if (codeOf(cause) !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new CommandError(
      'package_missing',
      `this needs the package pg, which is not installed: npm install "pg@${pgVersions}"`,
      { cause },
    );
  }
}
