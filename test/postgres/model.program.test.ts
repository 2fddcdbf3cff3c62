import { createPostgresStore } from 'posthorn/postgres';
import { describe, test } from 'vitest';
import { expectLikeMemoryStore } from '../dedupe/like-memory-store.ts';
import { usePostgres } from './fixture.ts';

describe('the PostgreSQL store and the memory store', () => {
  const fixture = usePostgres();

  test('answer alike, whatever the operations', { timeout: 60_000 }, async () => {
    await expectLikeMemoryStore(
      createPostgresStore(fixture.connect(), { scope: 'model', commandTimeoutMs: 15_000 }),
    );
  });
});
