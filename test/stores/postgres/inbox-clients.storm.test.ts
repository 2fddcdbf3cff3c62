import type { Pool } from 'pg';
import { beforeAll, describe } from 'vitest';
import { clientOf as ofDrizzle } from './drizzle-client.ts';
import { type DatabaseFixture, useDatabase } from './fixture.ts';
import { testClient } from './inbox-clients.ts';
import { clientOf as ofKysely } from './kysely-client.ts';
import { createLedger } from './ledger.ts';
import { clientOf as ofPool } from './pool-client.ts';

/** The pool of a database, which has a ledger. */
function usePool(fixture: DatabaseFixture): { readonly pool: Pool } {
  let pool: Pool | undefined;
  beforeAll(() => createLedger(fixture.connect()));
  return {
    get pool() {
      pool ??= fixture.connect();
      return pool;
    },
  };
}

describe('an inbox in transactions', () => {
  const own = usePool(useDatabase());

  describe('of pg', () => testClient(own, ofPool));
  describe('of Drizzle', () => testClient(own, ofDrizzle));
  describe('of Kysely', () => testClient(own, ofKysely));
});
