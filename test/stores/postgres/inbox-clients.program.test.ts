import { describe } from 'vitest';
import { clientOf as ofDrizzle } from './drizzle-client.ts';
import { useDatabase } from './fixture.ts';
import { testClient } from './inbox-clients.ts';
import { clientOf as ofKysely } from './kysely-client.ts';
import { useLedger } from './ledger.ts';
import { clientOf as ofPool } from './pool-client.ts';

describe('an inbox in transactions', () => {
  const own = useLedger(useDatabase());

  const parsing = useLedger(useDatabase(), { types: { getTypeParser: () => String } });

  describe('of pg that gives texts', () => testClient(parsing, ofPool, 'the least'));
  describe('of Drizzle', () => testClient(own, ofDrizzle, 'the least'));
  describe('of Kysely', () => testClient(own, ofKysely, 'the least'));
});
