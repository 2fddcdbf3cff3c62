import { createReceiver } from 'posthorn';
import { observeWithLogger } from 'posthorn/logger';
import { observeWithOpenTelemetry } from 'posthorn/opentelemetry';
import { observeWithPrometheus } from 'posthorn/prometheus';
import { createEvent } from 'posthorn/testing';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { deliveryOf } from '../support/delivery-of.ts';
import { usePrintedErrors } from '../support/printed-errors.ts';
import { KEY } from '../support/served.ts';
import { throwing } from '../support/throwing.ts';
import { useOpenTelemetry } from './opentelemetry-sdk.ts';

const { printed } = usePrintedErrors();

const openReceiver = () =>
  createReceiver({ signingKey: KEY, account: ({ headers }) => headers.get('merchant') })
    .on('dispute.won', () => {})
    .on('dispute.lost', throwing('no booking today'));

const of = (account: string, type: 'dispute.won' | 'dispute.lost' = 'dispute.won') =>
  deliveryOf(createEvent(type), { merchant: [account] });

test('counters have the account, a hundred at most, and none of a stranger', async () => {
  const { points } = useOpenTelemetry();
  const register = new Registry();
  const receiver = openReceiver().observe(() => {});
  observeWithOpenTelemetry(receiver);
  observeWithPrometheus(receiver, { register });
  const stranger = of('stranger');
  await receiver.receive({
    ...stranger,
    headers: { ...stranger.headers, 'x-service-signature': '0'.repeat(64) },
  });
  for (let index = 0; index < 105; index += 1) await receiver.receive(of(`m${index}`));
  const first = Array.from({ length: 100 }, (_, index) => `m${index}`);
  const expected = new Set(['none', ...first, 'other']);
  const lines = (await register.metrics()).split('\n');
  const accounts = lines.flatMap(
    (line) => /^posthorn_deliveries_total.*account="(\w+)"/.exec(line)?.[1] ?? [],
  );
  expect(new Set(accounts)).toEqual(expected);
  expect(lines.find((line) => line.includes('account="other"'))).toMatch(/ 5$/);
  const counted = (await points()).filter(({ attributes }) => 'posthorn.account' in attributes);
  expect(new Set(counted.map(({ attributes }) => attributes['posthorn.account']))).toEqual(expected);
});

test('lines of logs have the account', async () => {
  const receiver = openReceiver();
  await receiver.receive(of('m17', 'dispute.lost'));
  expect(printed().slice(1)).toEqual([
    expect.stringMatching(/^posthorn: failed 500 account=m17 event=\S+ type=dispute.lost attempt=1 /),
  ]);
  const lines: unknown[] = [];
  const add = (fields: unknown): unknown => lines.push(fields);
  observeWithLogger(receiver, { info: add, warn: add, error: add });
  await receiver.receive(of('m17'));
  expect(lines).toMatchObject([{ event: { type: 'dispute.won', account: 'm17' } }]);
});
