import { randomUUID } from 'node:crypto';
import { createRedisDeadLetters, createRedisStore, type RedisClient } from 'posthorn/redis';
import { storeConformance } from 'posthorn/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorOf } from '../../support/error-of.ts';
import { ampleTime } from '../../support/limits.ts';
import { listUntilError } from '../file/list-until-error.ts';
import { createLetter, deadLettersConformance } from '../kit/conformance.ts';
import { keyCases } from '../kit/key-cases.ts';
import { serverDeadLettersConformance } from '../kit/server-conformance.ts';
import { summariesConformance, withSummaries } from '../kit/summaries.ts';
import type { OpenClient } from './drivers.ts';
import type { RedisServer } from './servers.ts';

type Connect = () => Promise<Pick<OpenClient, 'client' | 'close'>>;

/** Opens a client before the tests of a suite and closes it after them; returns what gives it to a test. */
function useClient(connect: Connect): () => RedisClient {
  let open: Awaited<ReturnType<Connect>> | undefined;
  beforeAll(async () => {
    open = await connect();
  });
  afterAll(() => open?.close());
  return () => {
    if (open === undefined) throw new Error('the client is opened before the tests');
    return open.client;
  };
}

/** Adds the tests of what every store must do, for the store with a client. */
export function describeStore(name: string, connect: Connect): void {
  describe(name, () => {
    const client = useClient(connect);
    // Each case uses ids of its own.
    const createStore = () => createRedisStore(client(), { scope: 'billing', ...ampleTime });
    for (const { name, run } of storeConformance(createStore)) test(name, run);
    test.each(keyCases)('$name', ({ check }) => check(createStore));
  });
}

/** Adds the tests of what all dead letters on a server must do, for those with a client. */
export function describeDeadLetters(name: string, connect: Connect): void {
  describe(name, () => {
    const client = useClient(connect);
    const onServer = (scope: string) => ({
      deadLetters: createRedisDeadLetters(client(), { scope, ...ampleTime }),
      store: createRedisStore(client(), { scope, ...ampleTime }),
    });
    for (const { name, check } of deadLettersConformance)
      test(name, () => check(onServer(randomUUID()).deadLetters));
    for (const { name, check } of serverDeadLettersConformance) test(name, () => check(onServer));
  });
}

/** Adds the tests of summaries, for dead letters with a client of a single Redis. */
export function describeSummaries(name: string, connect: Connect, redis: () => RedisServer): void {
  describe(`summaries of ${name}`, () => {
    const client = useClient(connect);
    const open = () => {
      const scope = randomUUID();
      const deadLetters = withSummaries(createRedisDeadLetters(client(), { scope, ...ampleTime }));
      return { deadLetters, key: `${scope}/dead-letters{${scope}}:letters` };
    };

    for (const { name, check } of summariesConformance)
      test(name, () => {
        const { deadLetters, key } = open();
        return check(deadLetters, (id, text) => redis().command('hset', key, id, text));
      });

    test('tell of a dead letter whose text is lost', async () => {
      const { deadLetters, key } = open();
      for (const id of ['1', '2', '3']) await deadLetters.put(createLetter({ id }));
      redis().command('hdel', key, '2');
      const { seen, error } = await listUntilError(deadLetters.summaries());
      expect(seen).toEqual(['1', '3']);
      expect(error).toMatchObject(errorOf('dead_letter_unreadable', 'because only its position is there'));
    });
  });
}
