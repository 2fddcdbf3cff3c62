import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { createPostgresDeadLetters, createPostgresInbox, createPostgresStore } from 'posthorn/postgres';
import { storeConformance } from 'posthorn/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import type { EndpointOptions } from '../../support/open-endpoint.ts';
import { deadLettersConformance } from '../kit/conformance.ts';
import { useDatabase } from './fixture.ts';
import { isInboxError } from './inbox-failure.ts';
import { createLedger, type Handle, holdRun, openBook } from './ledger.ts';
import { type PgBouncer, startPgBouncer } from './pgbouncer.ts';

/** As many connections to the server as the pool here has to PgBouncer. */
const POOL_SIZE = 4;

const scope = 'bouncer';

describe('through PgBouncer', () => {
  const fixture = useDatabase();
  let bouncer: PgBouncer;
  let pool: Pool;

  beforeAll(async () => {
    bouncer = await startPgBouncer(fixture.port, POOL_SIZE);
    pool = fixture.connect({ port: bouncer.port, max: POOL_SIZE });
    await createLedger(pool);
  });
  afterAll(() => bouncer?.stop());

  describe('the store', () => {
    let store: ReturnType<typeof createPostgresStore> | undefined;
    const cases = storeConformance(() => {
      store ??= createPostgresStore(pool, { scope, ...ampleTime });
      return store;
    });
    for (const { name, run } of cases) test(name, run);
  });

  describe('dead letters', () => {
    for (const { name, check } of deadLettersConformance) {
      test(name, () => check(createPostgresDeadLetters(pool, { scope: randomUUID(), ...ampleTime })));
    }
  });

  const open = (handle: Handle, options: EndpointOptions) =>
    openBook(createPostgresInbox(pool, { scope }), handle, {
      store: createPostgresStore(pool, { scope: randomUUID(), ...ampleTime }),
      ...options,
    });

  test('an inbox fails at its deadline where a run of the same event elsewhere goes on', async () => {
    const { event, gate, running } = await holdRun((pass) => open(pass, {}));
    const second = await open(() => expect.unreachable(), { deadlineMs: 5_000 });
    expect((await second.send(event)).status).toBeGreaterThanOrEqual(500);
    await second.reports.first(({ error }) => isInboxError(error?.cause, 'inbox_busy'));
    gate.open();
    expect((await running).status).toBe(200);
  });
});
