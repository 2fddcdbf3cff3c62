import { DatabaseSync } from 'node:sqlite';
import { createReceiver } from 'posthorn';
import {
  createSqliteDeadLetters,
  createSqliteInbox,
  createSqliteJournal,
  createSqliteStore,
  migrateSqlite,
} from 'posthorn/sqlite';

export const database = new DatabaseSync(process.env.FILE ?? 'events.db');
await migrateSqlite(database);
// Without a unique index, because the inbox makes sure that an event is booked once.
database.exec('create table if not exists ledger (event_id text not null, amount integer)');
database.exec('create table if not exists transfers (id text primary key, state text)');

const scope = 'billing-example';
const inbox = createSqliteInbox(database, { scope });
export const receiver = createReceiver({
  signingKey: process.env.SIGNING_KEY,
  store: createSqliteStore(database, { scope }),
  deadLetters: createSqliteDeadLetters(database, { scope }),
  journal: createSqliteJournal(database, { scope }),
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
