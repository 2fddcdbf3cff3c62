import { createPostgresStore } from 'posthorn/postgres';
import { describe, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { expectLikeMemoryStore } from '../kit/like-memory-store.ts';
import { useDatabase } from './fixture.ts';

describe('the PostgreSQL store and the memory store', () => {
  const fixture = useDatabase();

  test('answer alike, whatever the operations', async () => {
    await expectLikeMemoryStore(createPostgresStore(fixture.connect(), { scope: 'model', ...ampleTime }));
  });
});
