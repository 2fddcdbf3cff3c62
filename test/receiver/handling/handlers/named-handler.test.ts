import { createReceiver, type Report } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { nameHandler } from '../../../../src/receiver/handling/handlers/named-handler.ts';
import { deliveryOf } from '../../../support/delivery-of.ts';
import { Seen } from '../../../support/seen.ts';
import { KEY } from '../../../support/served.ts';

test.each([
  ['warns in a report if another receiver has the name of its handler', true, ['inbox_name_shared']],
  ['warns of no name that it has alone', false, []],
])('a receiver %s', async (_title, isShared, expected) => {
  const takeName = () => isShared;
  const handle = nameHandler('book', () => {}, { takeName, hasHandled: async () => false });
  const reports = new Seen<Report>();
  const receiver = createReceiver({ signingKey: KEY }).on('*', handle).observe(reports.add);
  await receiver.receive(deliveryOf(createEvent('transfer.created')));
  const { handlers, warnings } = await reports.nth(1);
  expect(handlers).toMatchObject([{ name: 'book', ok: true }]);
  const codes = warnings.map((warning) => warning.split(':')[0]);
  expect(codes.filter((code) => code === 'inbox_name_shared')).toEqual(expected);
});
