import { describe } from 'vitest';
import { clientOf as ofDrizzle } from './drizzle-client.ts';
import { useDatabase } from './fixture.ts';
import { testClient } from './inbox-clients.ts';
import { clientOf as ofKysely } from './kysely-client.ts';
import { useLedger } from './ledger.ts';
import { clientOf as ofPool } from './pool-client.ts';

describe('an inbox in transactions', () => {
  const own = useLedger(useDatabase());

  describe('of pg', () => testClient(own, ofPool));
  describe('of Drizzle', () => testClient(own, ofDrizzle));
  describe('of Kysely', () => testClient(own, ofKysely));
});
