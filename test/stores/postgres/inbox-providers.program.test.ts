import { createReceiver, type HandlerContext } from 'posthorn';
import { createPostgresInbox, type PostgresTransaction, type RankedKey } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { closedAtEnd } from '../../support/closed-at-end.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { ampleDeadlines } from '../../support/limits.ts';
import { deliveryOfOther, type OtherEvent, otherSender } from '../../support/other-sender.ts';
import { KEY } from '../../support/served.ts';
import { useDatabase } from './fixture.ts';

// test/stores/sqlite/inbox-providers.test.ts has every case: the same code reads the event there.
describe('an inbox in PostgreSQL and events of another sender, without the members of the banking service', () => {
  const fixture = useDatabase();
  const pool = fixture.connect();
  beforeAll(() => pool.query('create table entries (number bigserial, entry text)'));

  const book = async (
    _: unknown,
    { event: { key }, transaction }: HandlerContext & { readonly transaction: PostgresTransaction },
  ): Promise<void> => void (await transaction.query('insert into entries (entry) values ($1)', [key]));

  /** Each receiver has a store of its own, so that only the inbox knows what was handled. */
  function open(scope: string, latest: (event: OtherEvent) => RankedKey) {
    const inbox = createPostgresInbox(pool, { scope });
    const acme = createReceiver({ signingKey: KEY, provider: otherSender(), ...ampleDeadlines }).on(
      '*',
      inbox.once<OtherEvent>('book', book, { latest }),
    );
    const service = createReceiver({ signingKey: KEY, ...ampleDeadlines }).on('*', inbox.once('book', book));
    acme.observe(() => {});
    service.observe(() => {});
    return { acme: closedAtEnd(acme), service: closedAtEnd(service) };
  }

  async function entries(): Promise<unknown[]> {
    const { rows } = await pool.query('delete from entries returning entry, number');
    return rows.sort((one, other) => one.number - other.number).map(({ entry }) => entry);
  }

  test('are handled once by their key, and the rank alone decides which is the latest', async () => {
    const ranks: Record<string, number> = { evt_1: 2, evt_2: 1, evt_3: 3 };
    const latest = ({ event_id }: OtherEvent): RankedKey => ({ key: 'TR1', rank: ranks[event_id] ?? 0 });
    for (const event_id of ['evt_1', 'evt_1', 'evt_2', 'evt_3']) {
      const { acme } = open('ranked', latest);
      const answer = await acme.receive(deliveryOfOther({ event_id, type: 'refund' }));
      expect(answer).toMatchObject({ status: 200 });
    }
    const { service } = open('ranked', latest);
    await service.receive(deliveryOf({ ...createEvent('transfer.succeeded'), id: 'evt_1' }));
    expect(await entries()).toEqual(['handled:from:4:acme:-:evt_1', 'handled:from:4:acme:-:evt_3', 'evt_1']);
  });
});
