// A receiver that keeps everything in one file, without a server: event ids, dead letters, and a ledger that
// has each event exactly once. `SIGNING_KEY=… npm start`. Several processes of this machine may share the
// file, as under PM2. On Node.js 20, `new Database('events.db')` of better-sqlite3 takes the place of
// `node:sqlite`.

import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { createReceiver } from 'posthorn';
import { toNode } from 'posthorn/node';
import {
  createSqliteDeadLetters,
  createSqliteInbox,
  createSqliteStore,
  migrateSqlite,
} from 'posthorn/sqlite';

const database = new DatabaseSync(process.env.FILE ?? 'events.db');
await migrateSqlite(database);
// Without a unique index, because the inbox makes sure that an event is booked once.
database.exec('create table if not exists ledger (event_id text not null, amount integer)');
database.exec('create table if not exists transfers (id text primary key, state text)');

const scope = 'billing-example';
const inbox = createSqliteInbox(database, { scope });
const receiver = createReceiver({
  signingKey: process.env.SIGNING_KEY,
  store: createSqliteStore(database, { scope }),
  deadLetters: createSqliteDeadLetters(database, { scope }),
})
  .on(
    'transfer.succeeded',
    inbox.once('book', ({ id, data }, context) => {
      const insert = context.database.prepare('insert into ledger (event_id, amount) values (?, ?)');
      insert.run(id, data.amount ?? null);
      console.log(id, data.amount);
    }),
  )
  .on(
    'transfer.*',
    inbox.once(
      'state',
      ({ data }, context) => {
        const upsert = context.database.prepare('insert or replace into transfers (id, state) values (?, ?)');
        upsert.run(data.id ?? null, data.state ?? null);
      },
      // An older event does not overwrite the state of a newer one.
      { latest: (event) => event.data.id },
    ),
  );

const server = createServer(toNode(receiver, { path: '/webhooks' }));
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () =>
  console.log(`listening on http://127.0.0.1:${server.address().port}/webhooks`),
);

process.once('SIGTERM', async () => {
  server.close(); // no new deliveries
  await receiver.close(); // the running ones are finished
  database.close();
  process.exit();
});
