import { afterAll, beforeAll } from 'vitest';
import { type Client, createClient, type Major, ready } from './clients.ts';
import type { OpenClient } from './drivers.ts';
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
  /** The same for a client of whichever package. */
  readonly keepOpen: (open: Promise<OpenClient>) => Promise<OpenClient>;
  /** The port of a node of a Cluster that all tests of the suite may share. */
  readonly clusterPort: () => Promise<number>;
}

/** Starts a single Redis before the tests and ends everything after them. */
export function useRedis(settings: Readonly<Record<string, string>> = {}): Fixture {
  const clients = new Set<Client>();
  const opened = new Set<OpenClient>();
  let clusterPort: Promise<number> | undefined;
  let servers: Servers | undefined;
  let redis: RedisServer | undefined;

  beforeAll(async () => {
    servers = new Servers();
    redis = await servers.single(settings);
  });

  afterAll(async () => {
    for (const client of clients) client.disconnect();
    for (const { close } of opened) close();
    await servers?.stop();
  });

  const keep = <C extends Client>(client: C): C => {
    clients.add(client);
    return client;
  };
  const startCluster = async (): Promise<number> => {
    const [node] = await started(servers).cluster();
    return started(node).port;
  };
  return {
    keep,
    keepOpen: async (opening) => {
      const open = await opening;
      opened.add(open);
      return open;
    },
    clusterPort: () => {
      clusterPort ??= startCluster();
      return clusterPort;
    },
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
