import { createReceiver } from 'posthorn';
import {
  createPostgresDeadLetters,
  createPostgresInbox,
  createPostgresJournal,
  createPostgresStore,
} from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { errorOf } from '../../support/error-of.ts';
import { handledEntry } from '../../support/handled-entry.ts';
import { ampleTime } from '../../support/limits.ts';
import { readAll } from '../../support/read-all.ts';
import { KEY as SERVED_KEY } from '../../support/served.ts';
import { until } from '../../support/until.ts';
import { createLetter } from '../kit/conformance.ts';
import { ampleJournal, createRecord, idsOf, write } from '../kit/journal/journal-case.ts';
import { KEY, reportsOf, serve } from '../redis/deliveries.ts';
import { useDatabase } from './fixture.ts';

const request = { id: 'evt_1', token: 'a', leaseMs: 20_000, retentionMs: 60_000, handled: [] };

/** What docs/postgres.md says. */
const grantsTo = (role: string): string => `
create role ${role} login;
grant usage on schema posthorn to ${role};
grant select, insert, update, delete on all tables in schema posthorn to ${role};
`;

describe('a role in PostgreSQL', () => {
  const fixture = useDatabase();

  test('needs no more than to read and write the tables', async () => {
    const user = `${fixture.database}_service`;
    await fixture.sql(grantsTo(user));
    vi.spyOn(Math, 'random').mockReturnValue(0);
    onTestFinished(() => void vi.restoreAllMocks());
    await fixture.sql(
      "insert into posthorn.events (scope, key, first_expires_at, expires_at) values ('a', 'old', now(), now())",
    );
    const pool = fixture.connect({ user });
    await expect(pool.query('create table posthorn.own (a text)')).rejects.toThrow('permission denied');
    const store = createPostgresStore(pool, { scope: 'billing', ...ampleTime });
    expect((await store.claim(request)).state).toBe('claimed');
    expect((await store.renew(request)).state).toBe('held');
    expect((await store.release(request)).state).toBe('released');
    expect((await store.claim({ ...request, token: 'b' })).state).toBe('claimed');
    expect((await store.complete(request)).state).toBe('completed');
    await until('an expired id is deleted', async () => {
      return (await fixture.sql("select count(*) from posthorn.events where key = 'old'")) === '0';
    });
    const inbox = createPostgresInbox(pool, { scope: 'billing' });
    const receiver = createReceiver({ signingKey: SERVED_KEY, store });
    receiver.on(
      '*',
      inbox.once('own', ({ id }) => void id, { latest: ({ id }) => id }),
    );
    receiver.observe(() => {});
    const event = createEvent('transfer.succeeded');
    const { status } = await receiver.receive(deliveryOf(event));
    expect(status).toBe(200);
    const rerun = { handlers: ['own'], run: 'fix' };
    expect(await receiver.rerun(handledEntry(event, { handled: ['own'] }), rerun)).toMatchObject({
      outcome: 'processed',
    });
    expect(await inbox.prune({ olderThanMs: 0 })).toBe(2);
    const letters = createPostgresDeadLetters(pool, { scope: 'billing', ...ampleTime });
    for (const id of ['1', '2', '1']) await letters.put(createLetter({ id }));
    expect((await letters.get('1'))?.id).toBe('1');
    expect(await letters.remove('1')).toBe(true);
    expect((await readAll(letters.list())).map(({ id }) => id)).toEqual(['2']);
    const journal = createPostgresJournal(pool, { scope: 'billing', ...ampleJournal });
    for (const id of ['1', '2', '1']) await write(journal, createRecord({ id }));
    expect(await journal.get('1')).toMatchObject({ deliveries: 2 });
    expect(await idsOf(journal)).toEqual(['1', '2']);
    expect(await journal.prune({ olderThanMs: 0 })).toBe(2);
  });

  test('that may not delete is warned of once, and served', async () => {
    const user = `${fixture.database}_cautious`;
    await fixture.sql(
      `create role ${user} login; grant usage on schema posthorn to ${user};
       grant select, insert, update on posthorn.events to ${user}`,
    );
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    onTestFinished(() => void vi.restoreAllMocks());
    const pool = fixture.connect({ user });
    const store = createPostgresStore(pool, { scope: 'cautious', ...ampleTime });
    expect((await store.claim(request)).state).toBe('claimed');
    await until('the warning', () => warn.mock.calls.length > 0);
    expect(warn.mock.calls).toEqual([
      ['posthorn cannot delete expired ids from PostgreSQL: permission denied for table events'],
    ]);
    expect((await store.complete(request)).state).toBe('completed');
  });

  test('that may not delete entries of the journal is warned of once, and they are written', async () => {
    const user = `${fixture.database}_writer`;
    await fixture.sql(
      `create role ${user} login; grant usage on schema posthorn to ${user};
       grant select, insert, update on posthorn.journal to ${user}`,
    );
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    onTestFinished(() => void vi.restoreAllMocks());
    const journal = createPostgresJournal(fixture.connect({ user }), { scope: 'writer', ...ampleJournal });
    await write(journal, createRecord({ id: '1' }));
    await until('the warning', () => warn.mock.calls.length > 0);
    const words = 'old entries of the journal from PostgreSQL: permission denied for table journal';
    expect(warn.mock.calls).toEqual([[`posthorn cannot delete ${words}`]]);
    expect(await idsOf(journal)).toEqual(['1']);
  });
});

describe('a PostgreSQL without the tables', () => {
  const fixture = useDatabase();

  test('is told by every operation, and the delivery is answered 503', async () => {
    const pool = fixture.connect({ max: 1 });
    const schema = 'not-there';
    const advice =
      `run migratePostgres(pool, { schema: 'not-there' }) or ` +
      '"npx posthorn postgres migrate --schema not-there" with POSTGRES_URL set';
    const store = createPostgresStore(pool, { scope: 'a', schema, ...ampleTime });
    const letters = createPostgresDeadLetters(pool, { scope: 'a', schema, ...ampleTime });
    for (const operate of [store.claim, store.renew, store.complete, store.release]) {
      await expect(operate(request)).rejects.toMatchObject({
        code: 'store_unavailable',
        message: expect.stringContaining(advice),
        cause: { code: 'configuration_invalid' },
      });
    }
    for (const operate of [letters.get, letters.remove]) {
      await expect(operate('evt_1')).rejects.toMatchObject(errorOf('dead_letters_unavailable', advice));
    }
    const journal = createPostgresJournal(pool, { scope: 'a', schema, ...ampleJournal });
    const missing = errorOf('journal_unavailable', advice);
    await expect(write(journal, createRecord())).rejects.toMatchObject(missing);
    await expect(journal.get('evt_1')).rejects.toMatchObject(missing);
    await expect(idsOf(journal)).rejects.toMatchObject(missing);
    await expect(journal.prune({ olderThanMs: 0 })).rejects.toMatchObject(missing);
    const receiver = createReceiver({ signingKey: KEY, store }).on('*', () => {});
    const reports = reportsOf(receiver);
    const deliver = await serve(receiver);
    expect(await deliver(createEvent('transfer.created'))).toMatchObject({ status: 503 });
    expect(reports[0]?.error?.message).toContain(advice);
    // The same connection all the time: a refusal does no harm to it.
    expect(pool.totalCount).toBe(1);
  });
});
