import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { createPostgresDeadLetters, createPostgresStore } from 'posthorn/postgres';
import { storeConformance } from 'posthorn/testing';
import { describe, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { deadLettersConformance } from '../kit/conformance.ts';
import { keyCases } from '../kit/key-cases.ts';
import { type ScopeOnServer, serverDeadLettersConformance } from '../kit/server-conformance.ts';
import { summariesConformance, withSummaries } from '../kit/summaries.ts';
import { type parsingPools, useDatabase } from './fixture.ts';
import { LONG_CASE } from './long-case.ts';

/** The pool whose transactions have an isolation level by default. */
export function isolated(isolation: string): (typeof parsingPools)[number] {
  const options = `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`;
  return { name: `has transactions that are ${isolation} by default`, settings: { options } };
}

/** Adds the tests of what every store must do, for the store on these pools. */
export function describeStore(...pools: typeof parsingPools): void {
  const fixture = useDatabase();

  describe.each(pools)('whose pool $name', ({ settings }) => {
    const connect = () =>
      createPostgresStore(fixture.connect(settings), { scope: 'conformance', ...ampleTime });
    let store: ReturnType<typeof connect> | undefined;
    const cases = storeConformance(() => {
      store ??= connect();
      return store;
    });
    for (const { name, run } of cases) test(name, run);
    test.each(keyCases)('$name', ({ check }) => check(connect));
  });
}

/** Adds the tests of what all dead letters on a server must do, for those in a pool. */
export function testDeadLetters(pool: Pool): void {
  const open = (scope: string): ScopeOnServer => ({
    deadLetters: createPostgresDeadLetters(pool, { scope, ...ampleTime }),
    store: createPostgresStore(pool, { scope, ...ampleTime }),
  });
  for (const { name, check } of deadLettersConformance.filter(({ name }) => name !== LONG_CASE))
    test(name, () => check(open(randomUUID()).deadLetters));
  for (const { name, check } of serverDeadLettersConformance) test(name, () => check(open));

  describe('their summaries', () => {
    for (const { name, check } of summariesConformance)
      test(name, () => {
        const scope = randomUUID();
        const update = 'update posthorn.dead_letters set letter = $3 where scope = $1 and key = $2';
        const plant = (id: string, text: string) => pool.query(update, [scope, id, text]);
        return check(withSummaries(open(scope).deadLetters), plant);
      });
  });
}
