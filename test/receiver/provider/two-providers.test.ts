import { createMemoryStore } from 'posthorn';
import { createSqliteDeadLetters, createSqliteStore } from 'posthorn/sqlite';
import { describe } from 'vitest';
import { useSqlite } from '../../stores/sqlite/fixture.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { testTwoAccounts } from './two-accounts.ts';
import { testTwoProviders } from './two-providers.ts';

describe('with a store in memory, and dead letters in a map', () => {
  const openPlace = () => ({ store: createMemoryStore(), deadLetters: createMapDeadLetters() });
  testTwoProviders(openPlace);
  testTwoAccounts(openPlace);
});

describe('with a file of SQLite', () => {
  const fixture = useSqlite();
  const openPlace = async () => {
    const database = await fixture.openMigrated();
    const scope = 'providers-test';
    const deadLetters = createSqliteDeadLetters(database, { scope });
    return { store: createSqliteStore(database, { scope }), deadLetters };
  };
  testTwoProviders(openPlace);
  testTwoAccounts(openPlace);
});
