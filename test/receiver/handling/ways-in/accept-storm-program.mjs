// A receiver whose two handlers are those of an inbox, in PostgreSQL or in a file of SQLite. It gets
// deliveries. A request for /accept gives it an event that was fetched, and one for /replay lets it replay all
// dead letters. Some attempts fail, and poison does until the file HEALED is there.

import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { createReceiver, PermanentError } from 'posthorn';
import { toNode } from 'posthorn/node';
import { openPostgres, openSqlite } from './accept-storm-places.mjs';

const { POSTGRES_URL, DRIVER, FILE, SCOPE, HEALED, KEY, OPTIONS } = process.env;
const { store, deadLetters, inbox, insert, pause } =
  POSTGRES_URL === undefined ? await openSqlite(DRIVER, FILE, SCOPE) : openPostgres(POSTGRES_URL, SCOPE);

function failSometimes(name, { poison }) {
  if (poison === name && !existsSync(HEALED)) throw new PermanentError('poison');
  if (Math.random() < 0.1) throw new Error('this attempt fails');
}

// Handlers of SQLite must not return a promise, so there are two forms of one handler.
const handler = (name) =>
  pause === undefined
    ? ({ id, data }, context) => {
        failSometimes(name, data);
        insert(context, id, name);
      }
    : async ({ id, data }, context) => {
        await pause();
        failSometimes(name, data);
        await insert(context, id, name);
        // Kills are to fall here too, between the effect and its commit.
        await pause();
      };

const receiver = createReceiver({ signingKey: KEY, store, deadLetters, ...JSON.parse(OPTIONS) })
  .on('*', inbox.once('book', handler('book')))
  .on('*', inbox.once('mail', handler('mail')))
  .observe(({ source, outcome, code, event, handlers }) => {
    if (source !== 'accept') return;
    const skipped = handlers.filter((one) => one.skipped === 'handled_before').length;
    process.stdout.write(`accepted ${event?.id} ${outcome} ${code} ${skipped}\n`);
  });

async function accept(request) {
  const { outcome } = await receiver.accept(await text(request), { source: 'the list of the storm' });
  return outcome;
}

async function replayAll() {
  let left = 0;
  for await (const letter of deadLetters.list()) {
    const { outcome } = await receiver.replay(letter);
    if (outcome !== 'processed' && outcome !== 'duplicate') left += 1;
  }
  return String(left);
}

const deliver = toNode(receiver);
const calls = { '/accept': accept, '/replay': replayAll };
const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
  const call = calls[request.url];
  if (call === undefined) return deliver(request, response);
  call(request).then(
    (answer) => response.end(answer),
    () => response.destroy(),
  );
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening ${process.pid} ${server.address().port}\n`);
});
