import { ConfigurationError } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import { openDirectly } from '../../../support/open-endpoint.ts';
import { readAll } from '../../../support/read-all.ts';
import { throwing } from '../../../support/throwing.ts';
import { openCounting, SOURCE } from './counting.ts';

test.each([
  ['a text that is not JSON', 'not json', 'body_not_json'],
  ['bytes that are not UTF-8', Buffer.from([0xff]), 'body_not_json'],
  ['half of a surrogate pair', '"\ud800"', 'body_not_json'],
  ['an object that is not an event', { id: 'evt_1' }, 'envelope_invalid'],
  [
    'a time that is not one',
    { ...createEvent('transfer.succeeded'), created_at: '28.11.2026' },
    'envelope_invalid',
  ],
  [
    'a body over maxBodyBytes',
    { ...createEvent('transfer.succeeded'), more: 'x'.repeat(2_000) },
    'body_too_large',
  ],
  [
    'an event of the future',
    { ...createEvent('transfer.succeeded'), created_at: new Date(Date.now() + 3_600_000).toISOString() },
    'event_in_future',
  ],
])('%s is returned, and not parked', async (_title, event, code) => {
  const deadLetters = createMapDeadLetters();
  const { receiver, runs } = openCounting({ deadLetters, maxBodyBytes: 2_000 });
  const report = await receiver.accept(event, SOURCE);
  expect(report).toMatchObject({ outcome: 'rejected', code, source: 'accept' });
  expect(await readAll(deadLetters.list())).toEqual([]);
  expect(runs).toEqual([]);
});

test.each([
  ['a number', 5, 'got number'],
  ['null', null, 'got null'],
  ['a list', [createEvent('transfer.succeeded')], 'got Array'],
  ['a promise', Promise.resolve(createEvent('transfer.succeeded')), 'got a promise: await it'],
  ['a BigInt inside', { id: 1n }, 'has no JSON'],
  ['an object that gives no JSON', { toJSON: () => undefined }, 'toJSON() returns nothing'],
])('%s is a mistake of the program', async (_title, event, message) => {
  const { receiver } = openCounting();
  const accepting = receiver.accept(event as object, SOURCE);
  await expect(accepting).rejects.toThrow(ConfigurationError);
  await expect(accepting).rejects.toThrow(message);
});

test.each([
  ['no options', undefined, 'accept() takes an object of options'],
  ['no source', {}, 'source of accept() must name the place'],
  ['an empty source', { source: '' }, 'source of accept() must name the place'],
  ['a source of blanks', { source: '  ' }, 'source of accept() must name the place'],
  ['a source that is too long', { source: 'x'.repeat(201) }, 'source of accept() must name the place'],
  [
    'a time that is not a number',
    { ...SOURCE, createdAtMs: '2026' },
    'createdAtMs of accept() must be a time',
  ],
  ['allowForgotten that is not a boolean', { ...SOURCE, allowForgotten: 1 }, 'allowForgotten of accept()'],
  ['an account without accounts', { ...SOURCE, account: 'm1' }, 'the receiver has no option account'],
  ['headers of an unknown form', { ...SOURCE, headers: 5 }, 'headers must be an object'],
  ['an unknown option', { ...SOURCE, allow: true }, '"allow" is not an option of accept()'],
])('%s rejects', async (_title, options, message) => {
  const { receiver, reports } = openCounting();
  const calling = receiver.accept(createEvent('transfer.succeeded'), options as never);
  await expect(calling).rejects.toThrow(ConfigurationError);
  await expect(calling).rejects.toThrow(message);
  expect(reports.all).toEqual([]);
});

test('an event of a receiver without handlers is failed', async () => {
  const { receiver } = openDirectly({}, () => {});
  const report = await receiver.accept(createEvent('transfer.succeeded'), SOURCE);
  expect(report).toMatchObject({ outcome: 'failed', code: 'no_handlers' });
});

test('an event is failed while the store is away, and after close(), and not parked', async () => {
  const deadLetters = createMapDeadLetters();
  const store = {
    claim: throwing('no connection'),
    renew: throwing(''),
    complete: throwing(''),
    release: throwing(''),
  };
  const { receiver } = openCounting({ deadLetters, store });
  const event = createEvent('transfer.succeeded');
  expect(await receiver.accept(event, SOURCE)).toMatchObject({
    outcome: 'failed',
    code: 'store_unavailable',
  });
  await receiver.close();
  expect(await receiver.accept(event, SOURCE)).toMatchObject({ outcome: 'failed', code: 'closing' });
  expect(await readAll(deadLetters.list())).toEqual([]);
});
