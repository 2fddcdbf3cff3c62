import { ConfigurationError, createReceiver, type JournalEntry, type RerunOptions } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { errorOf } from '../../../support/error-of.ts';
import { handledEntry } from '../../../support/handled-entry.ts';
import { createMapJournal } from '../../../support/map-journal.ts';
import { openDirectly } from '../../../support/open-endpoint.ts';
import { KEY } from '../../../support/served.ts';
import { openCounting } from './counting.ts';
import { FIX } from './rerunning.ts';

const event = createEvent('transfer.succeeded');

/** A receiver with the named handlers "book" and "mail", which note that they ran. */
function openTwo() {
  const ran: string[] = [];
  const opened = openDirectly({}, (receiver) =>
    receiver
      .on('transfer.*', () => void ran.push('book'), { name: 'book' })
      .on('dispute.*', () => void ran.push('mail'), { name: 'mail' }),
  );
  return { ...opened, ran };
}

describe('a call that is wrong rejects, and nothing is reported:', () => {
  test.each<[string, unknown, string]>([
    ['no options', undefined, 'rerun()'],
    ['an unknown option', { ...FIX, source: 'a list' }, 'source'],
    ['no handlers', { run: 'fix' }, 'handlers of rerun() must be a list with at least one name'],
    ['an empty list', { handlers: [] }, 'with at least one name, such as'],
    ['a name instead of a list', { handlers: 'book' }, 'must be a list with at least one name'],
    ['a misspelt name', { handlers: ['bok'] }, 'the nearest is "book"'],
    ['a wrong name beside a right one', { handlers: ['book', 'mial'] }, 'the nearest is "mail"'],
    ['something other than a name', { handlers: [7] }, 'must be a list of names; it has 7'],
    ['an empty run', { ...FIX, run: '' }, 'run of rerun() must be a well-formed text of 1 to 100 characters'],
    ['a long run', { ...FIX, run: 'x'.repeat(101) }, 'run of rerun() must be'],
    ['a run with a NUL', { ...FIX, run: 'fix\0' }, 'run of rerun() must be'],
    ['a run that is not well-formed', { ...FIX, run: '\ud800' }, 'run of rerun() must be'],
    ['a run that is a number', { ...FIX, run: 7 }, 'run of rerun() must be'],
    [
      'an empty reason',
      { ...FIX, reason: '' },
      'reason of rerun() must be a well-formed text of 1 to 1000 characters',
    ],
    ['a long reason', { ...FIX, reason: 'x'.repeat(1_001) }, 'reason of rerun() must be'],
  ])('%s', async (_title, options, message) => {
    const { ran, receiver, reports } = openTwo();
    const call: unknown = Reflect.apply(receiver.rerun, receiver, [handledEntry(event), options]);
    await expect(call).rejects.toMatchObject(errorOf('configuration_invalid', message));
    expect([ran, reports.all]).toEqual([[], []]);
  });

  test('a receiver whose handlers have no names says how to give them', async () => {
    const { receiver } = openDirectly();
    const call = receiver.rerun(handledEntry(event), FIX);
    await expect(call).rejects.toMatchObject(errorOf('configuration_invalid', 'give on() the option name'));
  });

  test.each<[string, unknown]>([
    ['an event', event],
    ['nothing', undefined],
    ['an id', event.id],
    ['an entry without a time', { ...handledEntry(event), firstReceivedAt: undefined }],
  ])('%s instead of an entry', async (_title, value) => {
    const { receiver, reports } = openTwo();
    const call: unknown = Reflect.apply(receiver.rerun, receiver, [value, FIX]);
    await expect(call).rejects.toMatchObject(
      errorOf('configuration_invalid', 'rerun() takes an entry of a journal'),
    );
    expect(reports.all).toEqual([]);
  });

  test('the longest run and the longest reason are taken', async () => {
    const { receiver } = openTwo();
    const options: RerunOptions = { handlers: ['book'], run: '🧾'.repeat(100), reason: 'x'.repeat(1_000) };
    expect(await receiver.rerun(handledEntry(event), options)).toMatchObject({ outcome: 'processed' });
  });
});

describe('an entry that is refused is reported once, and no handler runs:', () => {
  const dispute = createEvent('dispute.created');

  test.each<[string, JournalEntry, readonly string[], object]>([
    [
      'without a body',
      handledEntry(event, { rawBody: undefined, headers: undefined }),
      ['book'],
      { outcome: 'rejected', status: 400, ...errorOf('body_missing', 'it keeps none (bodies: false)') },
    ],
    [
      'of a handler that has not finished',
      handledEntry(event, { handled: [] }),
      ['book'],
      { outcome: 'rejected', ...errorOf('handler_unfinished', 'finished: none') },
    ],
    [
      'of several handlers, of which one has not finished',
      handledEntry(event, { handled: ['book'] }),
      ['book', 'mail'],
      {
        outcome: 'rejected',
        ...errorOf('handler_unfinished', /^"mail" did not finish .*; finished: "book"/),
      },
    ],
    [
      'of another provider',
      handledEntry(event, { provider: 'stripe' }),
      ['book'],
      { outcome: 'failed', ...errorOf('provider_mismatch', 'give it to a receiver of its own provider') },
    ],
    [
      'whose body is not an event',
      handledEntry(event, { rawBody: Buffer.from('{}') }),
      ['book'],
      { outcome: 'rejected', ...errorOf('envelope_invalid', '') },
    ],
    [
      'whose type the handler takes no more',
      handledEntry(dispute),
      ['book'],
      {
        outcome: 'failed',
        ...errorOf('configuration_invalid', 'takes no events of the type "dispute.created" any'),
      },
    ],
  ])('%s', async (_title, entry, handlers, { message, ...expected }: { message?: unknown }) => {
    const { ran, receiver, reports } = openTwo();
    const report = await receiver.rerun(entry, { handlers, run: 'fix' });
    expect(report).toMatchObject({
      ...expected,
      error: { message },
      source: 'rerun',
      rerun: { run: 'fix' },
      event: { id: entry.id, type: entry.type },
      handlers: [],
    });
    expect(report.attempt).toBeUndefined();
    expect(ran).toEqual([]);
    expect(reports.all).toHaveLength(1);
  });

  test('of a journal that keeps no bodies', async () => {
    const journal = { ...createMapJournal(), bodies: false };
    const delivered = openCounting({ journal });
    await delivered.send(event);
    await delivered.receiver.close();
    const entry = await journal.get(event.id);
    if (entry === undefined) throw new Error('no entry');
    const { receiver } = openCounting();
    expect(await receiver.rerun(entry, FIX)).toMatchObject({ code: 'body_missing' });
  });
});

test('a call with wrong options does not freeze the receiver', async () => {
  const receiver = createReceiver({ signingKey: KEY }).observe(() => {});
  await expect(receiver.rerun(handledEntry(event), FIX)).rejects.toThrow(ConfigurationError);
  receiver.on('*', () => {}, { name: 'book' });
  expect(await receiver.rerun(handledEntry(event), FIX)).toMatchObject({ outcome: 'processed' });
});
