import { describe, test } from 'vitest';
import { usePostgres } from '../stores/postgres/fixture.ts';
import { useRedis } from '../stores/redis/fixture.ts';
import { recorded } from './fixtures.ts';
import { AFTER_RUN_MS, treatByProgram } from './letters.ts';
import { openFiles, openPostgres, openRedis } from './restored.ts';

const TITLE = 'that version $version has stored are listed, shown, replayed and dropped by the program';

describe('letters in files', () => {
  // That of the first version is in test/stored-forms/letters.program.test.ts.
  test.each(recorded.slice(1))(TITLE, async (version) => treatByProgram(openFiles(version, AFTER_RUN_MS)));
});

describe('letters in Redis', () => {
  const fixture = useRedis();
  test.each(recorded)(TITLE, async (version) =>
    treatByProgram(await openRedis(fixture, version, AFTER_RUN_MS)),
  );
});

describe('letters in PostgreSQL', () => {
  const fixture = usePostgres();
  test.each(recorded.filter(({ hasPostgres }) => hasPostgres))(TITLE, async (version) =>
    treatByProgram(await openPostgres(fixture, version, AFTER_RUN_MS)),
  );
});
