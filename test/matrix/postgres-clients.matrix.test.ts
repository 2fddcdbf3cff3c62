import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Pool } from 'pg';
import type { BeginTransaction, InboxQuery } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { usePostgres } from '../stores/postgres/fixture.ts';
import { testClient } from '../stores/postgres/inbox-clients.ts';
import { bookings, createLedger, recordsOf } from '../stores/postgres/ledger.ts';
import { packageRoot } from '../support/child-program.ts';
import { type InstalledPackage, installPackage } from '../support/installed-package.ts';
import { openEndpoint } from '../support/open-endpoint.ts';
import { snippetWith } from '../support/snippet.ts';

/** The clients of docs/postgres.md that are not installed here: the page has one snippet for each. */
const clients = [
  { name: 'knex', packages: ['knex@3.3'], close: 'destroy' },
  { name: 'typeorm', packages: ['typeorm@1.1', 'reflect-metadata@0.2'], close: 'destroy' },
  { name: 'postgres', packages: ['postgres@3.4'], close: 'end' },
  {
    name: '@prisma/adapter-pg',
    packages: ['prisma@7.10', '@prisma/client@7.10', '@prisma/adapter-pg@7.10'],
    close: '$disconnect',
  },
] as const;
const others = ['pg@8', '@types/pg@8', '@types/node@20'];

/** The exports of each snippet. */
interface Snippet {
  readonly pool: Pool;
  readonly db: Readonly<Record<(typeof clients)[number]['close'], () => Promise<unknown>>>;
  readonly begin: BeginTransaction<unknown>;
  readonly book: () => Promise<unknown>;
}

let installed: InstalledPackage;

beforeAll(() => {
  const packages = [...clients.flatMap(({ packages }) => packages), ...others];
  installed = installPackage(['npm install --ignore-scripts posthorn', ...packages].join(' '));
  const { project, run } = installed;
  cpSync(join(import.meta.dirname, 'projects', 'postgres-clients'), project, { recursive: true });
  writeFileSync(join(project, 'package.json'), '{"private":true,"type":"module"}');
  for (const { name } of clients) {
    writeFileSync(join(project, `${fileOf(name)}.ts`), snippetWith(`from '${name}'`, 'docs/postgres.md'));
  }
  // Generating takes no engine, but Prisma would download one.
  run('env', ['PRISMA_SCHEMA_ENGINE_BINARY=/bin/true', 'node_modules/.bin/prisma', 'generate']);
  run(join(packageRoot, 'node_modules', '.bin', 'tsc'), ['-p', '.']);
});

afterAll(() => installed.remove());

function fileOf(name: string): string {
  return name.replaceAll(/\W/g, '-');
}

describe.each(clients)('an inbox in transactions of $name', ({ name, close }) => {
  const fixture = usePostgres();
  let pool: Pool;
  let snippet: Snippet;

  beforeAll(async () => {
    // postgres.js prints the warnings of PostgreSQL about a COMMIT without a transaction.
    vi.spyOn(console, 'log').mockImplementation(() => {});
    pool = fixture.connect();
    await createLedger(pool);
    vi.stubEnv('POSTGRES_URL', fixture.url());
    snippet = await import(pathToFileURL(join(installed.project, 'out', `${fileOf(name)}.js`)).href);
  });

  afterAll(async () => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    await snippet.db[close]();
    await snippet.pool.end();
  });

  test('the handler of docs/postgres.md books an event once', async () => {
    const event = createEvent('transfer.succeeded');
    for (const reason of [undefined, 'handled_before']) {
      // With a store that knows nothing of the event.
      const { send, reports } = await openEndpoint({}, (receiver) => {
        receiver.on('transfer.succeeded', snippet.book);
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
      begin: (work) => snippet.begin((_tx, query) => work(query, query)),
      run: (query, statement) => query(statement, []),
    }),
  );
});
