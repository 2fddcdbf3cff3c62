import { describe } from 'vitest';
import { clientOf as ofDrizzle } from './drizzle-client.ts';
import { useDatabase } from './fixture.ts';
import { testClient } from './inbox-clients.ts';
import { clientOf as ofKysely } from './kysely-client.ts';
import { useLedger } from './ledger.ts';

describe('an inbox in transactions', () => {
  const own = useLedger(useDatabase());

  describe('of Drizzle', () => testClient(own, ofDrizzle, 'the least'));
  describe('of Kysely', () => testClient(own, ofKysely, 'the least'));
});
