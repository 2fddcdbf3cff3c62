import pg from 'pg';

/** The user's pool, of as many connections as pg opens by itself. */
export function createPool() {
  return new pg.Pool({ connectionString: process.env.POSTGRES_URL });
}
