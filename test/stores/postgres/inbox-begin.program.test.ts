import { type BeginTransaction, createPostgresInbox } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { errorOf } from '../../support/error-of.ts';
import { flowingTime } from '../../support/fake-time.ts';
import { ampleDeadlines } from '../../support/limits.ts';
import { type EndpointOptions, on, openEndpoint } from '../../support/open-endpoint.ts';
import { Seen } from '../../support/seen.ts';
import { unanswered } from '../../support/unanswered.ts';
import { useDatabase } from './fixture.ts';
import { testClient } from './inbox-clients.ts';
import { recordsOf, useLedger } from './ledger.ts';
import { clientOf } from './pool-client.ts';

describe('an inbox in transactions of another client', () => {
  const ledger = useLedger(useDatabase());
  testClient(ledger, clientOf, 'without deadlines');

  async function failureOf(
    begin: BeginTransaction<unknown>,
    handle: () => unknown = () => {},
    options: EndpointOptions = ampleDeadlines,
  ) {
    const event = createEvent('transfer.succeeded');
    const { send, reports } = await openEndpoint(
      options,
      on('transfer.*', createPostgresInbox(ledger.pool, { scope: 'begin-test', begin }).once('book', handle)),
    );
    expect((await send(event)).status).toBeGreaterThanOrEqual(500);
    expect(await recordsOf(ledger.pool, event)).toEqual([]);
    const { error } = await reports.first(
      (report) => report.error?.code.startsWith('handler_failed') === true,
    );
    return error?.cause;
  }

  test('refuses a begin that begins nothing, before it has written anything', async () => {
    expect(
      await failureOf((work) => work({}, (text, values) => ledger.pool.query(text, values))),
    ).toMatchObject(errorOf('configuration_invalid', 'in one transaction'));
  });

  test('refuses a begin that does not run its work', async () => {
    const skips: BeginTransaction<unknown> = (work) => Promise.resolve(Object(work));
    expect(await failureOf(skips)).toMatchObject({
      message: expect.stringContaining('begin must run its work'),
    });
  });

  test('takes back the record where begin commits work that has failed', async () => {
    const { begin } = clientOf(ledger.pool);
    const commits: BeginTransaction<unknown> = (work) =>
      begin((tx, query) => work(tx, query).catch((error) => Object(error)));
    expect(await failureOf(commits, () => Promise.reject(new Error('no')))).toMatchObject({
      code: 'permanent',
      cause: { message: expect.stringContaining('begin must run its work') },
    });
  });

  test('gives up at the deadline where begin gets no connection', async () => {
    // By its clock the receiver has been at it for four of the five seconds.
    const options = { deadlineMs: 5_000, now: () => Date.now() - 4_000 };
    expect(await failureOf(unanswered, () => {}, options)).toMatchObject({
      code: 'inbox_unavailable',
    });
  });

  test('gives up after an abort if begin never ends', async () => {
    const { begin } = clientOf(ledger.pool);
    const hung = new Seen<true>();
    const hangs: BeginTransaction<unknown> = async (work) => {
      await begin(work);
      hung.add(true);
      return unanswered();
    };
    const once = createPostgresInbox(ledger.pool, { scope: 'begin-test', begin: hangs }).once(
      'book',
      () => {},
    );
    let running: Promise<unknown> | undefined;
    const { send, receiver } = await openEndpoint(ampleDeadlines, (to) => {
      to.on('transfer.*', (event, context) => {
        running = once(event, context);
        return running;
      });
    });
    const answer = send(createEvent('transfer.succeeded'));
    await hung.nth(1);
    flowingTime();
    await receiver.close({ graceMs: 0 });
    expect((await answer).status).toBe(503);
    await expect(running).rejects.toMatchObject({ code: 'inbox_unavailable' });
  });

  test('passes on what begin throws', async () => {
    expect(await failureOf(() => Promise.reject(new Error('no database')))).toMatchObject(
      errorOf('inbox_unavailable', 'no database'),
    );
  });
});
