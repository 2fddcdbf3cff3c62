import { createPostgresStore } from 'posthorn/postgres';
import { describe, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { expectLateClaimsRefused } from '../kit/late-claims.ts';
import { expectLikeMemoryStore } from '../kit/like-memory-store.ts';
import { useDatabase } from './fixture.ts';

describe('the PostgreSQL store', () => {
  const fixture = useDatabase();

  test('answers like the memory store, whatever the operations', async () => {
    await expectLikeMemoryStore(createPostgresStore(fixture.connect(), { scope: 'model', ...ampleTime }));
  });

  test('refuses a claim after its release, in whatever order they and another claim take effect', async () => {
    const open = () => createPostgresStore(fixture.connect(), { scope: 'orders', ...ampleTime });
    await expectLateClaimsRefused(open(), open());
  });
});
