import type { Pool, PoolClient } from 'pg';
import type { Client } from './inbox-clients.ts';

const ignore = (): void => {};

/** A client for `begin` that does no more than it must, and gives rows as a list. */
export function clientOf(pool: Pool): Client<PoolClient> {
  return {
    begin: async (work) => {
      const client = await pool.connect();
      client.on('error', ignore);
      let failure: boolean | undefined;
      try {
        await client.query('begin');
        const result = await work(client, async (text, values) => (await client.query(text, values)).rows);
        await client.query('commit');
        return result;
      } catch (error) {
        failure = true;
        throw error;
      } finally {
        client.release(failure);
        client.removeListener('error', ignore);
      }
    },
    run: (client, statement) => client.query(statement),
  };
}
