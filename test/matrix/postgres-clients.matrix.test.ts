import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Pool } from 'pg';
import type { BeginTransaction, InboxQuery } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { usePostgres } from '../stores/postgres/fixture.ts';
import { testClient } from '../stores/postgres/inbox-clients.ts';
import { bookings, createLedger, recordsOf } from '../stores/postgres/ledger.ts';
import { openEndpoint } from '../support/open-endpoint.ts';
import { layOutExample } from './example-project.ts';

/** The modules of the example, each for a client. Without `close` the client has no pool of its own. */
const clients: readonly { readonly name: string; readonly close?: string }[] = [
  { name: 'drizzle' },
  { name: 'knex', close: 'destroy' },
  { name: 'kysely' },
  { name: 'postgres', close: 'end' },
  { name: 'prisma', close: '$disconnect' },
  { name: 'typeorm', close: 'destroy' },
];

/** The exports of each module. */
interface Example {
  readonly pool: Pool;
  readonly db: Readonly<Record<string, () => Promise<unknown>>>;
  readonly begin: BeginTransaction<unknown>;
  readonly book: () => Promise<unknown>;
}

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'posthorn-example-postgres-clients-'));
  // Generating takes no engine, but Prisma would download one.
  vi.stubEnv('PRISMA_SCHEMA_ENGINE_BINARY', '/bin/true');
  layOutExample(folder, 'postgres-clients');
  vi.unstubAllEnvs();
});

afterAll(() => rmSync(folder, { recursive: true }));

describe.each(clients)('an inbox in transactions of examples/postgres-clients/$name', ({ name, close }) => {
  const fixture = usePostgres();
  let pool: Pool;
  let example: Example;

  beforeAll(async () => {
    // postgres.js prints the warnings of PostgreSQL about a COMMIT without a transaction.
    vi.spyOn(console, 'log').mockImplementation(() => {});
    pool = fixture.connect();
    await createLedger(pool);
    vi.stubEnv('POSTGRES_URL', fixture.url());
    example = await import(pathToFileURL(join(folder, 'dist', `${name}.js`)).href);
  });

  afterAll(async () => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    if (close !== undefined) await example.db[close]?.();
    await example.pool.end();
  });

  test('the handler of the example books an event once', async () => {
    const event = createEvent('transfer.succeeded');
    for (const reason of [undefined, 'handled_before']) {
      // With a store that knows nothing of the event.
      const { send, reports } = await openEndpoint({}, (receiver) => {
        receiver.on('transfer.succeeded', example.book);
      });
      expect((await send(event)).body).toMatchObject({ outcome: 'processed' });
      expect(reports.all[0]?.handlers?.map(({ skipped }) => skipped)).toEqual([reason]);
    }
    expect([await bookings(pool, event), await recordsOf(pool, event)]).toEqual([1, ['book']]);
  });

  testClient<InboxQuery>(
    {
      get pool() {
        return pool;
      },
    },
    () => ({
      begin: (work) => example.begin((_tx, query) => work(query, query)),
      run: (query, statement) => query(statement, []),
    }),
  );
});
