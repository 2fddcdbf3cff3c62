import { afterAll, beforeAll } from 'vitest';
import { type Client, createClient, type Major, ready } from './clients.ts';
import { type RedisServer, Servers } from './servers.ts';

/** What the tests of one file or suite share: servers and clients, which end with it. */
export interface Fixture {
  readonly servers: Servers;
  /** A single Redis that all tests of the suite may share. */
  readonly redis: RedisServer;
  /** A connected client of the single Redis, or of what listens on another port. */
  readonly connect: (options?: { port?: number; major?: Major; keyPrefix?: string }) => Promise<Client>;
  /** Closes the client in the end. */
  readonly keep: <C extends Client>(client: C) => C;
}

/** Starts a single Redis before the tests and ends everything after them. */
export function useRedis(settings: Readonly<Record<string, string>> = {}): Fixture {
  const clients = new Set<Client>();
  let servers: Servers | undefined;
  let redis: RedisServer | undefined;

  beforeAll(async () => {
    servers = new Servers();
    redis = await servers.single(settings);
  }, 60_000);

  afterAll(async () => {
    for (const client of clients) client.disconnect();
    await servers?.stop();
  });

  const keep = <C extends Client>(client: C): C => {
    clients.add(client);
    return client;
  };
  return {
    keep,
    get servers() {
      return started(servers);
    },
    get redis() {
      return started(redis);
    },
    connect: ({ port = started(redis).port, major = 6, ...options } = {}) =>
      ready(keep(createClient(major, { port, ...options }))),
  };
}

function started<T>(thing: T | undefined): T {
  if (thing === undefined)
    throw new Error('the servers are started before the tests, not while they are collected');
  return thing;
}
