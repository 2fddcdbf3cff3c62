import type { Pool } from 'pg';

import { createPostgresInbox } from 'posthorn/postgres';
import { ampleDeadlines } from '../../support/limits.ts';
import { type DirectEndpoint, openDirectly } from '../../support/open-endpoint.ts';
import type { BookingInbox } from '../kit/inbox/rerun-cases.ts';
import { book, bookings, type Handle, recordsOf, rerunsOf } from './ledger.ts';

/** The scope of inboxes whose events are run once more. */
export const RERUN_SCOPE = 'rerun-test';

/** A receiver that remembers nothing, with one handler, without `latest`, which books first. */
export function openBook(pool: Pool, handle: Handle = () => {}): DirectEndpoint {
  return openDirectly(ampleDeadlines, (receiver) => {
    const once = createPostgresInbox(pool, { scope: RERUN_SCOPE }).once(
      'book',
      async (event, { transaction }) => {
        await book(event, transaction);
        await handle(transaction, event.id);
      },
    );
    receiver.on('transfer.*', once);
  });
}

/** What is left in PostgreSQL of the events that an inbox has handled. */
export const inPostgres = (pool: Pool): Omit<BookingInbox, 'open'> => ({
  bookings: (event) => bookings(pool, event),
  recordsOf: (event) => recordsOf(pool, event),
  rerunsOf: (event) => rerunsOf(pool, event),
  forget: ({ id }) => pool.query('delete from posthorn.inbox where event_key = $1', [id]),
});
