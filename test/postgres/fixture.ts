import { Pool, type PoolClient, type PoolConfig } from 'pg';
import { migratePostgres } from 'posthorn/postgres';
import { afterAll, beforeAll } from 'vitest';
import { type PostgresServer, Servers } from './servers.ts';

/** What the tests of one file or suite share: servers and pools, which end with it. */
export interface Fixture {
  readonly servers: Servers;
  /** A server that all tests of the suite may share, with the tables of posthorn in its schema `posthorn`. */
  readonly postgres: PostgresServer;
  /** A pool of the superuser's clients to the server, or to what listens on another port. */
  readonly connect: (options?: PoolConfig) => Pool;
  /** The address of the server, for programs. */
  readonly url: (options?: { readonly user?: string; readonly port?: number }) => string;
}

/** Starts a server before the tests and ends everything after them. */
export function usePostgres(settings: Readonly<Record<string, string>> = {}): Fixture {
  const pools = new Set<Pool>();
  /** Clients that have not been given back. */
  const taken = new Set<PoolClient>();
  let servers: Servers | undefined;
  let postgres: PostgresServer | undefined;

  const connect = (options: PoolConfig = {}): Pool => {
    const pool = new Pool({
      host: '127.0.0.1',
      port: started(postgres).port,
      user: 'postgres',
      database: 'postgres',
      ...options,
    });
    // Connections break in these tests on purpose.
    pool.on('error', () => {});
    pool.on('acquire', (client) => taken.add(client));
    pool.on('release', (_error, client) => taken.delete(client));
    pools.add(pool);
    return pool;
  };

  beforeAll(async () => {
    servers = new Servers();
    postgres = await servers.single(settings);
    await migratePostgres(connect());
  }, 60_000);

  afterAll(async () => {
    // Of a test that failed, which is what has to be read, and not that its client has lost its server.
    for (const client of taken) client.on('error', () => {});
    // First the servers: a pool waits for its clients, of which a test may have kept one.
    await servers?.stop();
    for (const pool of pools) if (!pool.ending) void pool.end();
  });

  return {
    get servers() {
      return started(servers);
    },
    get postgres() {
      return started(postgres);
    },
    connect,
    url: ({ user = 'postgres', port = started(postgres).port } = {}) =>
      `postgres://${user}@127.0.0.1:${port}/postgres`,
  };
}

function started<T>(thing: T | undefined): T {
  if (thing === undefined)
    throw new Error('the servers are started before the tests, not while they are collected');
  return thing;
}
