import { createMemoryStore } from 'posthorn';
import { createSqliteDeadLetters, createSqliteStore } from 'posthorn/sqlite';
import { describe } from 'vitest';
import { useSqlite } from '../../stores/sqlite/fixture.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { testTwoProviders } from './two-providers.ts';

describe('with a store in memory, and dead letters in a map', () => {
  testTwoProviders(() => ({ store: createMemoryStore(), deadLetters: createMapDeadLetters() }));
});

describe('with a file of SQLite', () => {
  const fixture = useSqlite();
  testTwoProviders(async () => {
    const database = await fixture.openMigrated();
    const scope = 'providers-test';
    const deadLetters = createSqliteDeadLetters(database, { scope });
    return { store: createSqliteStore(database, { scope }), deadLetters };
  });
});
