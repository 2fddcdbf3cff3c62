import { Pool } from 'pg';
import { createReceiver, type Receiver } from 'posthorn';
import {
  createPostgresDeadLetters,
  createPostgresInbox,
  createPostgresStore,
  migratePostgres,
} from 'posthorn/postgres';
import { authentication, printEvent, signingKey } from '../environment.ts';

const connectionString = process.env.POSTGRES_URL ?? 'postgres://postgres@127.0.0.1/postgres';
const pool = new Pool({ connectionString, connectionTimeoutMillis: 5_000, keepAlive: true });
pool.on('error', (error) => console.error(`postgres: ${error.message}`));
await migratePostgres(pool);
await pool.query(`
  create table if not exists ledger (event_id text not null, amount integer);
  create table if not exists transfers (id text primary key, state text);
`);

const scope = 'example-development';
const inbox = createPostgresInbox(pool, { scope });
export const receiver: Receiver = createReceiver({
  signingKey,
  authentication,
  store: createPostgresStore(pool, { scope }),
  deadLetters: createPostgresDeadLetters(pool, { scope }),
})
  .on(
    'transfer.succeeded',
    inbox.once('book', async (event, { transaction }) => {
      // Without a unique index, because the inbox makes sure that an event is booked once.
      await transaction.query('insert into ledger (event_id, amount) values ($1, $2)', [
        event.id,
        event.data.amount,
      ]);
      printEvent(event);
    }),
  )
  .on(
    'transfer.*',
    inbox.once(
      'state',
      async ({ data }, { transaction }) => {
        await transaction.query(
          `insert into transfers (id, state) values ($1, $2)
           on conflict (id) do update set state = excluded.state`,
          [data.id, data.state],
        );
      },
      // An older event does not overwrite the state of a newer one.
      { latest: (event) => event.data.id },
    ),
  );
