import { ConfigurationError, createReceiver } from 'posthorn';
import { createPostgresInbox, type PostgresInbox } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { ampleDeadlines } from '../../support/limits.ts';
import { type Endpoint, on, openEndpoint } from '../../support/open-endpoint.ts';
import { KEY } from '../../support/served.ts';
import { useDatabase } from './fixture.ts';

describe('the names of handlers of an inbox', () => {
  const fixture = useDatabase();
  const pool = fixture.connect();

  /** Receives an event by a new receiver, whose handler is a new function. Returns the handler's report. */
  async function receiveOnce(inbox: PostgresInbox, event: object): Promise<{ skipped?: string | undefined }> {
    const { send, reports } = await openByFactory(inbox);
    expect(await send(event)).toMatchObject({ status: 200, body: { outcome: 'processed' } });
    return reports.all[0]?.handlers[0] ?? {};
  }

  /** What the factory of docs/testing.md does, with an inbox that is made once. */
  function openByFactory(inbox: PostgresInbox): Promise<Endpoint> {
    return openEndpoint(
      ampleDeadlines,
      on(
        'transfer.*',
        inbox.once('book', () => {}),
      ),
    );
  }

  async function warningsOf({ send, reports }: Endpoint): Promise<readonly string[]> {
    await send(createEvent('transfer.succeeded'));
    return (reports.all[0]?.warnings ?? []).filter((warning) => !warning.startsWith('dead_letters_missing'));
  }

  const shared = expect.stringMatching(/^inbox_name_shared: .*"book"/);

  test('are taken for each receiver, and the first one that shares a name warns, once', async () => {
    const inbox = createPostgresInbox(pool, { scope: 'factory' });
    const endpoints = [await openByFactory(inbox), await openByFactory(inbox), await openByFactory(inbox)];
    const warnings = [];
    for (const endpoint of endpoints) warnings.push(await warningsOf(endpoint));
    expect(warnings).toEqual([[], [shared], []]);
  });

  test('stand for the same records in each receiver', async () => {
    const inbox = createPostgresInbox(pool, { scope: 'records' });
    const event = createEvent('transfer.succeeded');
    expect(await receiveOnce(inbox, event)).not.toHaveProperty('skipped');
    expect(await receiveOnce(inbox, event)).toHaveProperty('skipped', 'handled_before');
    const own = createPostgresInbox(pool, { scope: 'records-of-another' });
    expect(await receiveOnce(own, event)).not.toHaveProperty('skipped');
  });

  test('warn for two inboxes that share records, and not for other scopes and schemas', async () => {
    const warnings = [];
    for (const options of [
      { scope: 'one' },
      { scope: 'two' },
      { scope: 'one', schema: 'elsewhere' },
      { scope: 'one' },
    ])
      warnings.push(await warningsOf(await openByFactory(createPostgresInbox(pool, options))));
    expect(warnings).toEqual([[], [], [], [shared]]);
  });

  test('do not warn if the receivers register the same function', async () => {
    const inbox = createPostgresInbox(pool, { scope: 'same-function' });
    const book = (): void => {};
    for (let count = 0; count < 2; count += 1) {
      const endpoint = await openEndpoint(ampleDeadlines, on('*', inbox.once('book', book)));
      expect(await warningsOf(endpoint)).toEqual([]);
    }
  });

  test('are refused for a second function of a receiver, whatever name on gives', () => {
    const inbox = createPostgresInbox(pool, { scope: 'refused' });
    const receiver = createReceiver({ signingKey: KEY });
    const book = inbox.once('book', () => {});
    receiver.on('transfer.created', book);
    const another = inbox.once('book', () => {});
    const register = (name?: string) => () =>
      receiver.on('transfer.failed', another, name === undefined ? {} : { name });
    expect(register()).toThrow(ConfigurationError);
    expect(register()).toThrow('the handler name "book" is taken');
    expect(register('another')).toThrow(
      'the handler name "book" is taken: an inbox keeps its records by name',
    );
    expect(() => receiver.on('transfer.failed', book, { name: 'the same' })).not.toThrow();
    const elsewhere = createPostgresInbox(pool, { scope: 'refused-elsewhere' }).once('book', () => {});
    expect(() => receiver.on('transfer.failed', elsewhere, { name: 'elsewhere' })).not.toThrow();
  });
});
