import { describe } from 'vitest';
import { describeStore, isolated, testDeadLetters } from './conformance.ts';
import { parsingPools, useDatabase } from './fixture.ts';

describe('the store in PostgreSQL', () =>
  describeStore(...['repeatable read', 'serializable'].map(isolated), ...parsingPools));

describe('dead letters in PostgreSQL', () => {
  const fixture = useDatabase();

  describe.each(parsingPools)('whose pool $name', ({ settings }) =>
    testDeadLetters(fixture.connect(settings)),
  );
});
