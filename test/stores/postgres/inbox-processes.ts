import type { Pool } from 'pg';
import { createPostgresInbox } from 'posthorn/postgres';
import type { ChildProgram } from '../../support/child-program.ts';
import { ampleDeadlines } from '../../support/limits.ts';
import { type Endpoint, type EndpointOptions, openEndpoint } from '../../support/open-endpoint.ts';
import { addressOf, startOwnProgram } from '../../support/own-program.ts';
import { book } from './ledger.ts';

/** Starts a receiver in a process of its own, which ends with the test. */
export async function startWorker(
  postgresUrl: string,
  mode: 'dies' | 'freezes',
  options: object = {},
): Promise<ChildProgram & { readonly url: string }> {
  const env = { POSTGRES_URL: postgresUrl, MODE: mode, OPTIONS: JSON.stringify(options) };
  const program = startOwnProgram('test/stores/postgres/inbox-worker.mjs', env);
  return { ...program, url: await addressOf(program) };
}

/** The process that gets the retry, and knows nothing of the first. */
export function openOther(pool: Pool, options: EndpointOptions = {}): Promise<Endpoint> {
  return openEndpoint({ ...ampleDeadlines, ...options }, (receiver) => {
    receiver
      .on(
        'transfer.succeeded',
        createPostgresInbox(pool, { scope: 'inbox-test' }).once('book', (event, { transaction }) =>
          book(event, transaction),
        ),
      )
      .on('transfer.failed', async ({ id }) => {
        await pool.query('insert into ledger (event_id) values ($1)', [id]);
      });
  });
}
