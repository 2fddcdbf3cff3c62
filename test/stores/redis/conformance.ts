import { randomUUID } from 'node:crypto';
import { createRedisDeadLetters, createRedisStore, type RedisClient } from 'posthorn/redis';
import { storeConformance } from 'posthorn/testing';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { deadLettersConformance } from '../kit/conformance.ts';
import { keyCases } from '../kit/key-cases.ts';
import { serverDeadLettersConformance } from '../kit/server-conformance.ts';
import type { OpenClient } from './drivers.ts';

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
