import { readFileSync } from 'node:fs';
import pg from 'pg';
import { connectRedis } from '../contenders/redis-client.js';

/**
 * Imports an entry of a build's package. Builds of other commits have its file in other folders.
 *
 * @param {string} build the URL of its folder `dist`
 * @param {string} entry such as `./redis`
 */
function importEntry(build, entry) {
  const manifest = new URL('../package.json', `${build}/`);
  return import(
    new URL(JSON.parse(readFileSync(manifest, 'utf8')).exports[entry].import.default, manifest).href
  );
}

/**
 * Stores on the server that `index.js` has started. A build shares neither its connections nor its ids with
 * another one. `countCommands` tells how many commands the server has got from all of them.
 *
 * @typedef {object} StoreKind
 * @property {(build: string, number: number, parts: { journal: boolean }) => Promise<Parts>} create the options of a
 *   receiver
 * @property {() => Promise<number>} countCommands
 */

/** @typedef {Pick<import('../../dist/src/index.js').AnyOptions, 'store' | 'journal'>} Parts */

/** @type {StoreKind} */
const memory = { create: async () => ({}), countCommands: async () => 0 };

/** @returns {Promise<StoreKind>} which counts the commands of scripts too, because each of them takes time */
async function redis() {
  const observer = await connectRedis({ enableAutoPipelining: false });
  return {
    create: async (build, number) => {
      const { createRedisStore } = await importEntry(build, './redis');
      const client = await connectRedis({ enableAutoPipelining: true });
      return { store: createRedisStore(client, { scope: `bench-${number}` }) };
    },
    countCommands: async () =>
      Number(/total_commands_processed:(\d+)/.exec(await observer.info('stats'))?.[1]),
  };
}

/** @returns {Promise<StoreKind>} which counts the statements that were sent */
async function postgres() {
  let statements = 0;
  class CountingClient extends pg.Client {
    /**
     * @override
     * @param {any[]} query
     */
    query(...query) {
      statements += 1;
      return super.query(.../** @type {[any]} */ (query));
    }
  }
  const connect = (/** @type {string} */ database) =>
    new pg.Pool({
      connectionString: String(new URL(database, process.env.POSTGRES_URL)),
      Client: CountingClient,
    });
  return {
    create: async (build, number, { journal }) => {
      const { createPostgresJournal, createPostgresStore, migratePostgres } = await importEntry(
        build,
        './postgres',
      );
      // The tables and functions of builds differ, so each build has a database.
      const administrator = connect('postgres');
      await administrator.query(`create database bench_${number}`);
      await administrator.end();
      const pool = connect(`bench_${number}`);
      await migratePostgres(pool);
      const store = createPostgresStore(pool, { scope: 'bench' });
      return journal ? { store, journal: createPostgresJournal(pool, { scope: 'bench' }) } : { store };
    },
    countCommands: async () => statements,
  };
}

/** @type {Readonly<Record<string, () => Promise<StoreKind>>>} */
export const stores = { memory: async () => memory, redis, postgres };
