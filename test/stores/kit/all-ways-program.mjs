// A receiver with two handlers of an inbox, `book` and `mail`, and with `notify` outside of it, in PostgreSQL
// or in a file of SQLite. It gets deliveries. A request for /accept gives it an event that was fetched, one
// for /rerun the handlers to run once more, and one for /replay lets it replay all dead letters. /waiting
// tells how many entries wait for the journal. Until the file HEALED is there, some attempts fail, and those
// of poison all. Until then the process also kills itself once, between the end of a handler and the store's
// record of it.

import { existsSync, openSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { createReceiver, PermanentError } from 'posthorn';
import { toNode } from 'posthorn/node';
import { openPostgres, openSqlite } from './all-ways-places.mjs';

const { POSTGRES_URL, DRIVER, FILE, SCOPE, HEALED, LOG, KEY, OPTIONS } = process.env;
const { store, deadLetters, inbox, insert, insertAlone, journal, pause } =
  POSTGRES_URL === undefined ? await openSqlite(DRIVER, FILE, SCOPE) : openPostgres(POSTGRES_URL, SCOPE);

// Each record is appended at once, so that a kill takes none back.
const log = openSync(LOG, 'a');
function note(...words) {
  writeSync(log, `${[process.pid, process.hrtime.bigint(), ...words].join(' ')}\n`);
}

function failSometimes(name, { poison }) {
  if (existsSync(HEALED)) return;
  if (poison === name) throw new PermanentError('poison');
  if (Math.random() < 0.1) throw new Error('this attempt fails');
}

// Handlers of SQLite must not return a promise, so there are two forms of one handler.
const handler = (name) =>
  pause === undefined
    ? ({ id, data }, context) => {
        failSometimes(name, data);
        insert(context, id, name, context.rerun?.run ?? '');
      }
    : async ({ id, data }, context) => {
        await pause();
        failSometimes(name, data);
        await insert(context, id, name, context.rerun?.run ?? '');
        // Kills are to fall here too, between the effect and its commit.
        await pause();
      };

let runs = 0;
async function notify({ id, data }, { rerun }) {
  runs += 1;
  const run = runs;
  note('begin', run, id, id);
  try {
    await sleep(Math.random() * 20);
    failSometimes('notify', data);
    await insertAlone(id, 'notify', rerun?.run ?? '');
  } finally {
    note('end', run);
  }
}

let completionsLeft = 150 + Math.floor(Math.random() * 300);
const dyingStore = {
  ...store,
  complete: (request) => {
    completionsLeft -= 1;
    if (completionsLeft === 0 && !existsSync(HEALED)) {
      note('dies');
      process.kill(process.pid, 'SIGKILL');
    }
    return store.complete(request);
  },
};

const options = { signingKey: KEY, store: dyingStore, deadLetters, journal, ...JSON.parse(OPTIONS) };
const receiver = createReceiver(options)
  .on('*', inbox.once('book', handler('book')))
  .on('*', inbox.once('mail', handler('mail')))
  .on('*', notify, { name: 'notify' })
  .observe(() => {});

async function accept(body) {
  const { outcome } = await receiver.accept(body, { source: 'the list of the storm' });
  return outcome;
}

async function rerun(body) {
  const { id, ...options } = JSON.parse(body);
  const entry = await journal.get(id);
  return entry === undefined ? 'missing' : (await receiver.rerun(entry, options)).outcome;
}

async function replayAll() {
  let left = 0;
  for await (const letter of deadLetters.list()) {
    const { outcome } = await receiver.replay(letter);
    if (outcome !== 'processed' && outcome !== 'duplicate') left += 1;
  }
  return String(left);
}

async function countWaiting() {
  return String((await receiver.health()).journal.waiting);
}

const deliver = toNode(receiver);
const calls = { '/accept': accept, '/rerun': rerun, '/replay': replayAll, '/waiting': countWaiting };
const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
  const call = calls[request.url];
  if (call === undefined) return deliver(request, response);
  text(request)
    .then(call)
    .then(
      (answer) => response.end(answer),
      () => response.destroy(),
    );
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening ${process.pid} ${server.address().port}\n`);
});
