import { createMemoryStore, createReceiver, type Receiver, type Report } from 'posthorn';
import { observeWithLogger } from 'posthorn/logger';
import { observeWithOpenTelemetry } from 'posthorn/opentelemetry';
import { observeWithPrometheus } from 'posthorn/prometheus';
import { createEvent, deliver } from 'posthorn/testing';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { usePrintedErrors } from '../../support/printed-errors.ts';
import { KEY } from '../../support/served.ts';

const { printed } = usePrintedErrors();

/** What the default log prints of an event whose handler fails, without dead letters. */
async function printedBy(observe: (receiver: Receiver) => unknown): Promise<unknown[]> {
  const receiver = createReceiver({ signingKey: KEY, store: createMemoryStore() }).on('*', () => {
    throw new Error('no booking today');
  });
  observe(receiver);
  await deliver(receiver, createEvent('dispute.won'), { key: KEY });
  return printed();
}

const warned = expect.stringMatching(/^posthorn: dead_letters_missing/);
const failed = expect.stringMatching(/^posthorn: failed 500 .* handler_failed: .*no booking today/);
const quiet = { info: () => {}, warn: () => {}, error: () => {} };

test.each<[string, (receiver: Receiver) => unknown]>([
  ['without an observer', () => {}],
  ['beside one with keepDefaultLog', (receiver) => receiver.observe(() => {}, { keepDefaultLog: true })],
  ['beside metrics', (receiver) => observeWithPrometheus(receiver, { register: new Registry() })],
  ['beside traces', (receiver) => observeWithOpenTelemetry(receiver)],
])('goes on %s', async (_name, observe) => {
  expect(await printedBy(observe)).toEqual([warned, failed]);
});

test.each<[string, (receiver: Receiver) => unknown]>([
  ['an observer', (receiver) => receiver.observe(() => {})],
  ['one with keepDefaultLog: false', (receiver) => receiver.observe(() => {}, { keepDefaultLog: false })],
  ['a logger', (receiver) => observeWithLogger(receiver, quiet)],
  [
    'a logger before metrics',
    (receiver) => {
      observeWithLogger(receiver, quiet);
      observeWithPrometheus(receiver, { register: new Registry() });
    },
  ],
])('is off beside %s', async (_name, observe) => {
  expect(await printedBy(observe)).toEqual([]);
});

test('an observer beside it gets the first warnings too', async () => {
  const reports: Report[] = [];
  await printedBy((receiver) => receiver.observe((report) => reports.push(report), { keepDefaultLog: true }));
  expect(reports).toMatchObject([
    { code: 'handler_failed', warnings: [expect.stringMatching(/^dead_letters_missing/)] },
  ]);
});

test('a wrong option is refused by name', () => {
  const receiver = createReceiver({ signingKey: KEY });
  // @ts-expect-error no boolean
  expect(() => receiver.observe(() => {}, { keepDefaultLog: 'yes' })).toThrow(
    'keepDefaultLog must be true or false, got "yes"',
  );
  // @ts-expect-error no such option
  expect(() => receiver.observe(() => {}, { keepLog: true })).toThrow(
    '"keepLog" is not an option of observe; its options are keepDefaultLog',
  );
});
