// An inbox whose handlers write in transactions of Prisma 7.10, by its driver adapter. Without `limits`
// Prisma ends a transaction after 5 seconds, and a slow handler fails. schema.prisma has the model; `npx
// prisma generate` makes the client.
//
// docs/postgres.md says what `begin` must do. A receiver registers the handler by
// `receiver.on('transfer.succeeded', book)`.

import { PrismaPg } from '@prisma/adapter-pg';
import { Pool } from 'pg';
import { type BeginTransaction, createPostgresInbox } from 'posthorn/postgres';
import { type Prisma, PrismaClient } from './generated/prisma/client.js'; // your `output`

export const pool = new Pool({ connectionString: process.env.POSTGRES_URL });
export const db = new PrismaClient({ adapter: new PrismaPg(pool) });
const limits = { maxWait: 25_000, timeout: 25_000 };

export const begin: BeginTransaction<Prisma.TransactionClient> = (work) =>
  db.$transaction((tx) => work(tx, (text, values) => tx.$queryRawUnsafe(text, ...values)), limits);

const inbox = createPostgresInbox(pool, { scope: 'billing-production', begin });
export const book = inbox.once('book', async (event, { transaction }) => {
  await transaction.ledger.create({ data: { event_id: event.id } });
});
