import { createReceiver, type Delivery, type HandlerContext, PermanentError, type Report } from 'posthorn';
import { createEvent, signedHeaders } from 'posthorn/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { letterOf } from '../../support/letter-of.ts';
import { ampleDeadlines } from '../../support/limits.ts';
import { otherSender } from '../../support/other-sender.ts';
import { readAll } from '../../support/read-all.ts';
import { ListQueue } from '../queue/list-queue.ts';
import { acmeHeaders } from './senders.ts';
import type { Place } from './two-providers.ts';

const ID = 'evt_1';
const keyOf = (account = ''): string => `the key of ${account}`;

const senders = [
  {
    name: 'the banking service',
    options: {},
    keyOfEvent: (account: string) => `handled:from:15:banking-service:5:${account}:${ID}`,
    event: { ...createEvent('transfer.succeeded'), id: ID },
    headersOf: (body: string, key: string) => signedHeaders(body, { key }),
  },
  {
    name: 'another sender',
    options: { provider: otherSender() },
    keyOfEvent: (account: string) => `handled:from:4:acme:5:${account}:${ID}`,
    event: { event_id: ID, type: 'transfer.succeeded' },
    headersOf: (body: string, key: string) => ({
      'other-signature': acmeHeaders(body, key)['acme-signature'],
    }),
  },
];

/** A receiver of the accounts "north" and "south", whose names are in the path. */
function open({ options, headersOf }: (typeof senders)[number], { deadLetters, store }: Place) {
  const queue = new ListQueue();
  const ran: string[] = [];
  const reports: Report[] = [];
  const state = { isRefusing: false };
  const handle = (_: unknown, { event }: HandlerContext): void => {
    if (state.isRefusing) throw new PermanentError('refused for good');
    ran.push(`${event.account} ${event.key}`);
  };
  const receiver = createReceiver({
    account: ({ url }) => /^\/webhooks\/(\w+)/.exec(url)?.[1],
    signingKey: keyOf,
    store,
    deadLetters,
    queue,
    ...ampleDeadlines,
    ...options,
  })
    .on('transfer.succeeded', handle, { name: 'book' })
    .on('transfer.succeeded', handle, { name: 'mail', queue: true })
    .observe((report) => reports.push(report));
  onTestFinished(async () => void (await receiver.close({ graceMs: 0 })));
  const deliveryOf = (body: string, account: string, signer = account): Delivery => ({
    method: 'POST',
    url: `/webhooks/${account}?pass=s3cret`,
    headers: headersOf(body, keyOf(signer)),
    readBody: async () => body,
  });
  const send = async (...parts: Parameters<typeof deliveryOf>) => {
    const { status, body } = await receiver.receive(deliveryOf(...parts));
    return { status, ...JSON.parse(body) };
  };
  return { queue, deadLetters, ran, receiver, reports, send, state };
}

/** Proves that two accounts of a sender share a store, dead letters and a queue. */
export function testTwoAccounts(openPlace: () => Place | Promise<Place>): void {
  describe.each(senders)('two accounts of $name', (sender) => {
    const { event, keyOfEvent } = sender;
    const body = JSON.stringify(event);
    const [north, south] = [keyOfEvent('north'), keyOfEvent('south')];

    test('with the same ids share a store and a queue, and each event is handled once', async () => {
      const { queue, ran, receiver, reports, send } = open(sender, await openPlace());
      for (const outcome of ['queued', 'duplicate'])
        for (const account of ['north', 'south'])
          expect(await send(body, account)).toMatchObject({ outcome, id: ID });
      expect(queue.jobs).toMatchObject([
        { id: north, eventId: ID, account: 'north' },
        { id: south, eventId: ID, account: 'south' },
      ]);
      for (const job of [queue.take(), queue.take()])
        expect(await receiver.dispatch(job, { attempt: 1, final: false })).toMatchObject({
          outcome: 'processed',
        });
      const own = [`north ${north}`, `south ${south}`];
      expect(ran).toEqual([...own, ...own]);
      const known = reports.map((report) => `${report.event?.account} ${report.event?.key}`);
      expect(new Set(known)).toEqual(new Set(own));
    });

    test('an event that one signs with the id of the other changes nothing for the other', async () => {
      const { deadLetters, ran, receiver, reports, send, state } = open(sender, await openPlace());
      expect(await send(body, 'south', 'north')).toMatchObject({ status: 403, code: 'signature_mismatch' });
      expect(reports.at(-1)?.error?.message).toContain('signing key of the account "south"');

      // Neither an event that fails, nor a body that is not an event, is parked as one of the other account.
      state.isRefusing = true;
      expect(await send(body, 'north')).toMatchObject({ outcome: 'parked', id: ID });
      expect(await send('no event', 'north')).toMatchObject({ outcome: 'parked' });
      const parked = await readAll(deadLetters.list());
      expect(parked.map(({ account }) => account)).toEqual(['north', 'north']);
      expect(parked[0]).toMatchObject({ id: north, eventId: ID });
      expect(JSON.stringify(parked)).not.toContain('s3cret');

      state.isRefusing = false;
      expect(await send(body, 'south')).toMatchObject({ outcome: 'queued', id: ID });
      expect(ran).toEqual([`south ${south}`]);
      expect(await receiver.replay(await letterOf(deadLetters, north))).toMatchObject({
        outcome: 'processed',
        event: { id: ID, account: 'north', key: north },
      });
    });
  });
}
