// Runs the store, the letters, the inbox and the journal of posthorn/sqlite on the SQLite that a runtime
// brings itself, and prints what became of it. The arguments are the file, and the options of its first
// connection as JSON.

import { renameSync } from 'node:fs';
import { createReceiver } from 'posthorn';
import {
  createSqliteDeadLetters,
  createSqliteInbox,
  createSqliteJournal,
  createSqliteStore,
  migrateSqlite,
} from 'posthorn/sqlite';
import { createEvent, deliver, storeConformance } from 'posthorn/testing';

const [, , file, options] = process.argv;
const scope = 'matrix';
const isBun = process.versions.bun !== undefined;
const { DatabaseSync, Database = DatabaseSync } = await import(isBun ? 'bun:sqlite' : 'node:sqlite');

const valuesOf = (row) => Object.values(row ?? {});
const settingsOf = (database) =>
  ['synchronous', 'busy_timeout'].map((name) =>
    Number(valuesOf(database.prepare(`pragma ${name}`).get())[0]),
  );

async function conformance(database) {
  const failed = [];
  for (const { name, run } of storeConformance(() => createSqliteStore(database, { scope })))
    await run().catch((error) => failed.push(`${name}: ${error.message}`));
  return failed;
}

function receiverOn(database) {
  const inbox = createSqliteInbox(database, { scope });
  return createReceiver({
    signingKey: 'key',
    store: createSqliteStore(database, { scope, commandTimeoutMs: 300 }),
    deadLetters: createSqliteDeadLetters(database, { scope }),
  })
    .on(
      'transfer.succeeded',
      inbox.once('book', ({ id }, context) => {
        context.database.prepare('insert into ledger (id) values (?)').run(id);
      }),
    )
    .on(
      'transfer.failed',
      inbox.once('swallow', (_event, context) => {
        context.database.exec("insert into rolled_back values ('a')");
        try {
          context.database.exec("insert into rolled_back values ('a')");
        } catch {}
      }),
    )
    .on(
      'transfer.created',
      inbox.once('promise', async () => {}),
    )
    .observe(({ error, outcome }) => outcomes.push(codeOf(error) ?? outcome));
}

/** That of the inbox, if it is one. */
function codeOf(error) {
  const code = error?.cause?.code;
  return String(code).startsWith('inbox_') ? code : error?.code;
}

const outcomes = [];
const database = new Database(file, JSON.parse(options));
await migrateSqlite(database);
database.exec(
  'create table ledger (id text); create table rolled_back (id text unique on conflict rollback)',
);
database.exec('pragma synchronous = normal; pragma busy_timeout = 1234');
const failed = await conformance(database);

const event = createEvent('transfer.succeeded');
const receiver = receiverOn(database);
const send = (sent) => deliver(receiver, sent, { key: 'key' });
for (const sent of [event, event, createEvent('transfer.failed'), createEvent('transfer.created')])
  await send(sent);

const other = new Database(file);
other.exec('begin immediate');
await send(createEvent('transfer.succeeded'));
other.exec('rollback');
database.exec('begin');
await send(createEvent('transfer.succeeded'));
database.exec('rollback');
const settings = settingsOf(database);
const ledger = database.prepare('select id from ledger').all().length;

renameSync(file, `${file}.moved`);
await send(createEvent('transfer.succeeded'));
renameSync(`${file}.moved`, file);
await send(event);

const deadLetters = createSqliteDeadLetters(other, { scope });
const letter = { id: 'evt', reason: 'r', message: 'm', rawBody: Uint8Array.of(0, 255), headers: {} };
await deadLetters.put({ ...letter, receivedAt: 1, parkedAt: 1, attempts: 1, handled: [] });
const letters = [];
for await (const { id, rawBody } of createSqliteDeadLetters(database, { scope }).list())
  letters.push(`${id} ${[...rawBody].join(' ')}`);

const journal = createSqliteJournal(database, { scope });
const record = {
  id: 'evt',
  provider: 'acme',
  handled: ['book'],
  resource: 'r',
  rawBody: Uint8Array.of(0, 255),
};
const times = { firstReceivedAt: Date.now(), lastReceivedAt: Date.now(), decidedAt: Date.now() };
const end = { deliveries: 1, attempts: 1, outcome: 'processed', finality: 4 };
for (const batchId of ['one', 'two', 'two'])
  await journal.record({ batchId, records: [{ ...record, ...times, ...end }] });
const entries = [];
for await (const { deliveries, rawBody, handled } of journal.list({ resource: 'r' }))
  entries.push(`${deliveries} ${[...rawBody].join(' ')} ${handled}`);
for await (const { deliveries, rawBody } of journal.list({ bodies: false }))
  entries.push(`${deliveries} ${rawBody}`);
entries.push((await journal.get('evt')).outcome, await journal.prune({ olderThanMs: 1e9 }));
database.close();
other.close();

// After a restart what was handled is a duplicate.
const reopened = new Database(file);
await deliver(receiverOn(reopened), event, { key: 'key' });
reopened.close();
await send(createEvent('transfer.succeeded'));

process.stdout.write(JSON.stringify({ failed, outcomes, settings, ledger, letters, entries }));
