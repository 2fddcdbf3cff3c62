import { join } from 'node:path';
import type { Pool } from 'pg';
import { createPostgresInbox } from 'posthorn/postgres';
import { onTestFinished } from 'vitest';
import { type ChildProgram, packageRoot, startProgram } from '../../support/child-program.ts';
import { ampleDeadlines } from '../../support/limits.ts';
import { type Endpoint, type EndpointOptions, openEndpoint } from '../../support/open-endpoint.ts';
import { KEY } from '../../support/served.ts';
import { book } from './ledger.ts';

/** Starts a receiver in a process of its own, which ends with the test. */
export async function startWorker(
  postgresUrl: string,
  mode: 'dies' | 'freezes',
  options: object = {},
): Promise<ChildProgram & { readonly url: string }> {
  const program = startProgram(
    join(packageRoot, 'test', 'stores', 'postgres', 'inbox-worker.mjs'),
    {
      PATH: process.env.PATH,
      POSTGRES_URL: postgresUrl,
      KEY,
      MODE: mode,
      OPTIONS: JSON.stringify(options),
    },
    packageRoot,
  );
  onTestFinished(async () => {
    program.kill('SIGKILL');
    await program.exit;
  });
  const [, port] = (await program.line(/^listening /)).split(' ');
  return { ...program, url: `http://127.0.0.1:${port}/` };
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
