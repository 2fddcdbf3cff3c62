import { Client, Pool, type PoolClient, type PoolConfig } from 'pg';
import { migratePostgres } from 'posthorn/postgres';
import { afterAll, beforeAll, inject } from 'vitest';
import type { Settings } from './server-process.ts';
import { type PostgresServer, Servers } from './servers.ts';

/** A database of its own for the tests of one file or suite, and pools, which end with it. */
export interface DatabaseFixture {
  readonly port: number;
  /** Its name, which no other database of the server has; it may begin the names of roles. */
  readonly database: string;
  /** A pool of the superuser's clients to the database, or to what listens on another port. */
  readonly connect: (options?: PoolConfig) => Pool;
  /** The address of the database, for programs. */
  readonly url: (options?: { readonly user?: string; readonly port?: number }) => string;
  /** Runs SQL as the superuser and resolves with what psql would print: see {@link PostgresServer.sql}. */
  readonly sql: (sql: string) => Promise<string>;
}

/** What the tests of one file or suite share: servers and pools, which end with it. */
export interface Fixture extends DatabaseFixture {
  readonly servers: Servers;
  /** A server that all tests of the suite may share, with the tables of posthorn in its schema `posthorn`. */
  readonly postgres: PostgresServer;
}

/** The type integer. */
const INT4 = 23;

/** Settings of a pool that change all values but integers, which tests read in handlers. */
export const ownParsers: PoolConfig = {
  types: { getTypeParser: (oid: number) => (oid === INT4 ? Number : () => 'of the application') },
};

/** The settings of pools of applications that change the forms of what statements return. */
export const parsingPools: readonly { readonly name: string; readonly settings: PoolConfig }[] = [
  { name: 'has parsers of its own', settings: ownParsers },
  { name: 'takes results in binary', settings: Object({ binary: true }) },
];

/** Pools to one database, which may have to be started first. */
class Pools {
  readonly #pools = new Set<Pool>();
  /** Clients that have not been given back. */
  readonly #taken = new Set<PoolClient>();
  readonly #address: () => { readonly port: number; readonly database: string };
  #own: Pool | undefined;

  constructor(address: () => { readonly port: number; readonly database: string }) {
    this.#address = address;
  }

  readonly connect = (options: PoolConfig = {}): Pool => {
    const pool = new Pool({ host: '127.0.0.1', user: 'postgres', ...this.#address(), ...options });
    // Connections break in these tests on purpose.
    pool.on('error', () => {});
    pool.on('acquire', (client) => this.#taken.add(client));
    pool.on('release', (_error, client) => this.#taken.delete(client));
    this.#pools.add(pool);
    return pool;
  };

  readonly url: DatabaseFixture['url'] = ({ user = 'postgres', port } = {}) => {
    const address = this.#address();
    return `postgres://${user}@127.0.0.1:${port ?? address.port}/${address.database}`;
  };

  readonly sql = async (text: string): Promise<string> => {
    this.#own ??= this.connect({ max: 1 });
    const asText = { getTypeParser: () => String };
    // Several statements have several results.
    const results = [await this.#own.query<unknown[]>({ text, rowMode: 'array', types: asText })].flat();
    return results.flatMap(({ rows }) => rows.map((row) => row.join('|'))).join('\n');
  };

  /** For a test that failed, which is what has to be read, and not that a client which it kept is cut off. */
  expectCuts(): void {
    for (const client of this.#taken) client.on('error', () => {});
  }

  /** Without waiting for clients that a test has kept. */
  end(): void {
    for (const pool of this.#pools) if (!pool.ending) void pool.end();
  }
}

let databases = 0;

/** Makes a database before the tests, on the server that all files share, which no test stops or freezes. */
export function useDatabase(): DatabaseFixture {
  const port = inject('postgresPort');
  databases += 1;
  const database = `of_tests_${process.pid}_${databases}`;
  const pools = new Pools(() => ({ port, database }));

  const command = async (sql: string): Promise<void> => {
    const client = new Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
    await client.connect();
    await client.query(sql);
    await client.end();
  };

  beforeAll(async () => {
    await command(`create database ${database}`);
    await migratePostgres(pools.connect());
  });

  afterAll(async () => {
    pools.expectCuts();
    pools.end();
    await command(`drop database if exists ${database} with (force)`);
  });

  return { port, database, connect: pools.connect, url: pools.url, sql: pools.sql };
}

/** Starts a server before the tests, which they may stop and freeze, and ends everything after them. */
export function usePostgres(settings: Settings = {}): Fixture {
  let servers: Servers | undefined;
  let postgres: PostgresServer | undefined;
  const pools = new Pools(() => ({ port: started(postgres).port, database: 'postgres' }));

  beforeAll(async () => {
    servers = new Servers();
    postgres = await servers.single(settings);
    await migratePostgres(pools.connect());
  });

  afterAll(async () => {
    pools.expectCuts();
    // First the servers: a pool waits for its clients, of which a test may have kept one.
    await servers?.stop();
    pools.end();
  });

  return {
    get servers() {
      return started(servers);
    },
    get postgres() {
      return started(postgres);
    },
    get port() {
      return started(postgres).port;
    },
    database: 'postgres',
    connect: pools.connect,
    url: pools.url,
    sql: pools.sql,
  };
}

function started<T>(thing: T | undefined): T {
  if (thing === undefined)
    throw new Error('the servers are started before the tests, not while they are collected');
  return thing;
}
