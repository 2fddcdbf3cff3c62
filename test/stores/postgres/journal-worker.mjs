// A receiver with a journal, in a process of its own, for a test that kills it.

import { createServer } from 'node:http';
import pg from 'pg';
import { createReceiver } from 'posthorn';
import { toNode } from 'posthorn/node';
import { createPostgresJournal, createPostgresStore } from 'posthorn/postgres';

const { POSTGRES_URL, SCOPE: scope, KEY: signingKey } = process.env;
const pool = new pg.Pool({ connectionString: POSTGRES_URL });
pool.on('error', () => {});
const receiver = createReceiver({
  signingKey,
  store: createPostgresStore(pool, { scope, commandTimeoutMs: 60_000 }),
  journal: createPostgresJournal(pool, { scope }),
}).on('*', () => {});
receiver.observe(() => {});

const server = createServer({ keepAliveTimeout: 0 }, toNode(receiver));
server.listen(0, '127.0.0.1', () => process.stdout.write(`listening ${server.address().port}\n`));
