import { createReceiver, type Provider } from 'posthorn';
import { createSqliteInbox, type RankedKey } from 'posthorn/sqlite';
import { createEvent } from 'posthorn/testing';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { errorOf } from '../../support/error-of.ts';
import { deliveryOfOther, type OtherEvent, otherSender } from '../../support/other-sender.ts';
import { Seen } from '../../support/seen.ts';
import { KEY } from '../../support/served.ts';
import type { Connection } from './connection.ts';
import { openDatabase } from './driver.ts';
import { useSqlite } from './fixture.ts';

const scope = 'providers-test';

describe('an inbox in SQLite and events of another sender, without the members of the banking service', () => {
  const fixture = useSqlite(openDatabase);
  let database: Connection;
  beforeEach(async () => {
    database = await fixture.openMigrated();
    database.exec('create table ledger (entry text)');
  });

  const entries = (): unknown[] =>
    database
      .prepare('select entry from ledger order by rowid')
      .all()
      .map((row) => Object.values(Object(row))[0]);

  /** Each receiver has a store of its own, so that only the inbox knows what was handled. */
  function open(
    latest?: (event: OtherEvent) => string | RankedKey | undefined,
    provider: Provider<OtherEvent> = otherSender(),
  ) {
    const inbox = createSqliteInbox(database, { scope });
    const reports = new Seen<object>();
    const receiver = createReceiver({ signingKey: KEY, provider }).on(
      '*',
      inbox.once(
        'book',
        (event: OtherEvent, { database: transaction, event: { key } }) => {
          transaction.prepare('insert into ledger values (?)').run(`${event.event_id} ${key}`);
        },
        latest === undefined ? {} : { latest },
      ),
    );
    receiver.observe(reports.add);
    onTestFinished(async () => void (await receiver.close({ graceMs: 0 })));
    return { reports, send: (event: OtherEvent) => receiver.receive(deliveryOfOther(event)) };
  }

  const eventOf = (event_id: string, members: Partial<OtherEvent> = {}): OtherEvent => ({
    event_id,
    type: 'transfer.succeeded',
    resource: 'TR1',
    ...members,
  });

  const skipped = (reports: Seen<object>): unknown => reports.all.at(-1);

  test('are handled once by their key, beside an event of the service with the same id', async () => {
    const first = open();
    expect(await first.send(eventOf('evt_1'))).toMatchObject({ status: 200 });
    const again = open();
    expect(await again.send(eventOf('evt_1'))).toMatchObject({ status: 200 });
    expect(skipped(again.reports)).toMatchObject({ handlers: [{ skipped: 'handled_before' }] });
    const service = createReceiver({ signingKey: KEY }).on(
      '*',
      createSqliteInbox(database, { scope }).once('book', ({ id }, context) => {
        context.database.prepare('insert into ledger values (?)').run(`${id} ${context.event.key}`);
      }),
    );
    service.observe(() => {});
    await service.receive(deliveryOf({ ...createEvent('transfer.succeeded'), id: 'evt_1' }));
    expect(entries()).toEqual(['evt_1 handled:from:4:acme:-:evt_1', 'evt_1 evt_1']);
    expect(database.prepare('select event_key from posthorn_inbox order by event_key').all()).toEqual([
      { event_key: 'evt_1' },
      { event_key: 'handled:from:4:acme:-:evt_1' },
    ]);
  });

  test('need a rank for latest if they have no time, and the rank alone decides', async () => {
    const keyOnly = open(({ resource }) => resource);
    expect(await keyOnly.send(eventOf('evt_0'))).toMatchObject({ status: 500 });
    const needed =
      'latest of the handler "book" must give { key, rank }, because events of "acme" do not say';
    expect(skipped(keyOnly.reports)).toMatchObject({
      error: { cause: errorOf('inbox_latest_invalid', needed) },
    });
    const ranks: Record<string, number> = { evt_1: 2, evt_2: 1, evt_3: 2, evt_4: 3 };
    const { send } = open(({ event_id, resource = '' }) => ({ key: resource, rank: ranks[event_id] ?? 0 }));
    for (const id of Object.keys(ranks)) expect(await send(eventOf(id))).toMatchObject({ status: 200 });
    expect(entries().map((entry) => String(entry).split(' ')[0])).toEqual(['evt_1', 'evt_3', 'evt_4']);
  });

  test('are ordered by their time if they have one, and a key is of one provider', async () => {
    const now = Math.floor(Date.now() / 1_000);
    const latest = ({ resource }: OtherEvent): string | undefined => resource;
    const acme = open(latest);
    await acme.send(eventOf('evt_2', { created: now }));
    await acme.send(eventOf('evt_1', { created: now - 1 }));
    expect(skipped(acme.reports)).toMatchObject({ handlers: [{ skipped: 'superseded' }] });
    const vendor = open(latest, otherSender('vendor'));
    await vendor.send(eventOf('evt_1', { created: now - 1 }));
    expect(entries().map((entry) => String(entry).split(' ')[1])).toEqual([
      'handled:from:4:acme:-:evt_2',
      'handled:from:6:vendor:-:evt_1',
    ]);
  });
});
