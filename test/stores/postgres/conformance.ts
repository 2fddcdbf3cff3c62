import { createPostgresStore } from 'posthorn/postgres';
import { storeConformance } from 'posthorn/testing';
import { describe, test } from 'vitest';
import { keyCases } from '../kit/key-cases.ts';
import { useDatabase } from './fixture.ts';

/** Adds the tests of what every store must do, for the store with transactions of these isolation levels. */
export function describeStore(...isolations: readonly string[]): void {
  const fixture = useDatabase();

  describe.each(isolations)('whose transactions are %s by default', (isolation) => {
    const connect = () =>
      createPostgresStore(
        fixture.connect({ options: `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}` }),
        { scope: 'conformance' },
      );
    let store: ReturnType<typeof connect> | undefined;
    const cases = storeConformance(() => {
      store ??= connect();
      return store;
    });
    for (const { name, run } of cases) test(name, run);
    test.each(keyCases)('$name', ({ check }) => check(connect));
  });
}
