import { randomUUID } from 'node:crypto';
import type { PoolConfig } from 'pg';
import { createPostgresJournal } from 'posthorn/postgres';
import { describe, test } from 'vitest';
import { ampleJournal, type OpenJournal } from '../kit/journal/journal-case.ts';
import { expectLikeMergeRecords } from '../kit/journal/merge-property.ts';
import { journalConformance } from '../kit/journal-conformance.ts';
import { parsingPools, useDatabase } from './fixture.ts';

describe('the journal in PostgreSQL', () => {
  const fixture = useDatabase();
  const openOn = (settings?: PoolConfig): OpenJournal => {
    const pool = fixture.connect(settings);
    return (options) => createPostgresJournal(pool, { scope: randomUUID(), ...ampleJournal, ...options });
  };

  const open = openOn();
  test.each(journalConformance)('$name', ({ check }) => check(open));

  test('joins records in any order as receivers do', () => expectLikeMergeRecords(open, 100));

  describe.each(parsingPools)('whose pool $name', ({ settings }) => {
    const openOwn = openOn(settings);
    test.each(journalConformance)('$name', ({ check }) => check(openOwn));
  });
});
