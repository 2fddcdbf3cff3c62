// A receiver that keeps everything in PostgreSQL: event ids, dead letters, and a ledger that has each event
// exactly once. POSTGRES_URL is the address. To run it in a clone: `node dist/examples/postgres.js`.

import { createServer } from 'node:http';
import { createReceiver } from 'posthorn';
import { toNode } from 'posthorn/node';
import { announce, authentication, closeOnSignal, port, printEvent, signingKey } from './environment.ts';
import { createPostgresParts } from './postgres-parts.ts';

const { store, deadLetters, inbox } = await createPostgresParts(
  process.env.POSTGRES_URL ?? 'postgres://postgres@127.0.0.1/postgres',
);

const receiver = createReceiver({ signingKey, authentication, store, deadLetters })
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

const server = createServer(toNode(receiver, { path: '/webhooks' })).listen(port, () => announce(server));
closeOnSignal(server, receiver);
