// A receiver that keeps everything in one file, without a server: event ids, dead letters, a journal of what
// came, and a ledger that has each event exactly once. `SIGNING_KEY=… npm start`. Several processes of this
// machine may share the file, as under PM2. On Node.js 20, `new Database('events.db')` of better-sqlite3
// takes the place of `node:sqlite`.

import { createServer } from 'node:http';
import { toNode } from 'posthorn/node';
import { database, receiver } from './receiver.js';

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
