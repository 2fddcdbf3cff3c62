import type { DeadLetters, Journal, Store } from 'posthorn';
import { createD1DeadLetters, createD1Store } from 'posthorn/d1';
import { createDynamoDeadLetters, createDynamoStore } from 'posthorn/dynamodb';
import {
  createPostgresDeadLetters,
  createPostgresInbox,
  createPostgresJournal,
  createPostgresStore,
  type PostgresQuery,
} from 'posthorn/postgres';
import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';
import {
  createSqliteDeadLetters,
  createSqliteInbox,
  createSqliteJournal,
  createSqliteStore,
} from 'posthorn/sqlite';
import { type ListedStore, type StoreName, stores } from '../../../src/stores/list.ts';
import { unanswered } from '../../support/unanswered.ts';

/** The texts and the parameters of the statements that a server has got. */
export type Sent = unknown[];

/** The functions of a store, each called with a client that never gets an answer. */
export interface SilentStore {
  /** Its entry in the list of stores. */
  readonly listed: ListedStore;
  /** The options that it requires, with values. */
  readonly place: object;
  /** The client adds to `sent` all that it is to send. */
  readonly createStore: (options: object, sent?: Sent) => Store;
  readonly createDeadLetters: (options: object, sent?: Sent) => DeadLetters;
  readonly createInbox: ((options: object) => unknown) | undefined;
  readonly createJournal: ((options: object, sent?: Sent) => Journal) | undefined;
}

interface Functions {
  readonly client: (sent: Sent) => unknown;
  readonly place?: object;
  readonly createStore: (...values: never[]) => Store;
  readonly createDeadLetters: (...values: never[]) => DeadLetters;
  readonly createInbox?: (...values: never[]) => unknown;
  readonly createJournal?: (...values: never[]) => Journal;
}

const functions: Readonly<Record<StoreName, Functions>> = {
  redis: {
    client: (sent) => {
      const send = (...values: unknown[]) => {
        sent.push(...values);
        return unanswered();
      };
      return { status: 'ready', eval: send, evalsha: send, disconnect: () => {} };
    },
    createStore: createRedisStore,
    createDeadLetters: createRedisDeadLetters,
  },
  postgres: {
    client: (sent) => {
      const client = {
        query: ({ text, values = [] }: PostgresQuery) => {
          sent.push(text, ...values);
          return unanswered();
        },
        on: () => {},
        release: () => {},
        removeListener: () => {},
      };
      return {
        totalCount: 0,
        connect: (lend: (error: undefined, lent: typeof client) => void) => lend(undefined, client),
      };
    },
    createStore: createPostgresStore,
    createDeadLetters: createPostgresDeadLetters,
    createInbox: createPostgresInbox,
    createJournal: createPostgresJournal,
  },
  sqlite: {
    client: () => ({ exec: () => {}, prepare: () => ({ run: () => {}, get: () => [0, 2], all: () => [] }) }),
    createStore: createSqliteStore,
    createDeadLetters: createSqliteDeadLetters,
    createInbox: createSqliteInbox,
    createJournal: createSqliteJournal,
  },
  dynamodb: {
    client: () => ({ send: unanswered, config: { serviceId: 'DynamoDB' } }),
    place: { table: 'posthorn', scope: 'silent' },
    createStore: createDynamoStore,
    createDeadLetters: createDynamoDeadLetters,
  },
  d1: {
    client: (sent) => {
      const statement = {
        bind: (...values: unknown[]) => {
          sent.push(...values);
          return statement;
        },
      };
      return { prepare: () => statement, batch: unanswered };
    },
    createStore: createD1Store,
    createDeadLetters: createD1DeadLetters,
  },
};

export const silentStores: readonly SilentStore[] = stores.map((listed) => {
  const {
    client,
    place = { scope: 'silent' },
    createStore,
    createDeadLetters,
    createInbox,
    createJournal,
  } = functions[listed.name];
  const call =
    <Result>(create: (...values: never[]) => Result) =>
    (options: object, sent: Sent = []): Result =>
      Reflect.apply(create, undefined, [client(sent), options]);
  return {
    ...{ listed, place },
    createStore: call(createStore),
    createDeadLetters: call(createDeadLetters),
    createInbox: createInbox && call(createInbox),
    createJournal: createJournal && call(createJournal),
  };
});
