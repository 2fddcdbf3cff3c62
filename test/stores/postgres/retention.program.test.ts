import { createPostgresStore } from 'posthorn/postgres';
import { describe, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { expectKept, retentionCases } from '../kit/retention-cases.ts';
import { useDatabase } from './fixture.ts';
import { psql } from './server-process.ts';

const scope = 'retention';

describe('an id is kept in PostgreSQL, from its claim on,', () => {
  const fixture = useDatabase();

  test.each(retentionCases)('$name', async (retention) => {
    const left = 'select extract(epoch from expires_at - now()) * 1000 from posthorn.events';
    await expectKept(retention, createPostgresStore(fixture.connect(), { scope, ...ampleTime }), (id) =>
      Number(psql(fixture.port, fixture.database, `${left} where scope = '${scope}' and key = '${id}'`)),
    );
  });
});
