import { type Journal, JournalError, type JournalRecord } from 'posthorn';
import { describe, expect, test } from 'vitest';
import type { Foreseen } from '../../../src/receiver/handling/ways-in/foresee.ts';
import { WebhookReceiver } from '../../../src/receiver/receiver.ts';
import { createMapJournal } from '../../support/map-journal.ts';
import { eventAt, openDirectly } from '../../support/open-endpoint.ts';
import { MINUTE_MS, stepClocked } from '../../support/step-clock.ts';
import { throwing } from '../../support/throwing.ts';

const SOURCE = { source: 'events.list' };
const HOUR_MS = 60 * MINUTE_MS;

/**
 * An event of 30 hours ago, which the store has forgotten, and a receiver whose journal has this entry of it.
 */
function openForgotten(entry: Partial<JournalRecord> | undefined, given: Partial<Journal> = {}) {
  const { clock, deadLetters, store } = stepClocked();
  const asked: string[] = [];
  const records = new Map<string, JournalRecord>();
  const map = createMapJournal(records);
  const get: Journal['get'] = async (id) => {
    asked.push(id);
    return map.get(id);
  };
  const journal = { ...map, get, ...given };
  const runs: string[] = [];
  const { receiver } = openDirectly({ now: clock.now, deadLetters, store, journal }, (opened) =>
    opened.on('*', ({ id }) => void runs.push(id)),
  );
  const event = eventAt(clock.startedAt);
  if (entry !== undefined) records.set(event.id, { ...entryOf(event.id), ...entry });
  clock.moveTo(30 * HOUR_MS);
  const accept = (options = {}) => receiver.accept(event, { ...SOURCE, ...options });
  const foresee = (options = {}): Promise<Foreseen> => {
    if (!(receiver instanceof WebhookReceiver)) throw new Error('not a receiver of this build');
    return receiver.foresee(event, { ...SOURCE, ...options });
  };
  return { accept, asked, clock, event, foresee, runs };
}

function entryOf(id: string): JournalRecord {
  return {
    id,
    provider: 'banking-service',
    firstReceivedAt: 0,
    lastReceivedAt: 0,
    deliveries: 1,
    attempts: 1,
    outcome: 'processed',
    finality: 4,
    decidedAt: 0,
    handled: [],
  };
}

describe('an event that the store has forgotten', () => {
  test.each(['processed', 'queued'] as const)(
    'is a duplicate if the journal has it as %s',
    async (outcome) => {
      const { accept, foresee, runs } = openForgotten({ outcome });
      expect(await foresee()).toMatchObject({ prospect: 'known' });
      expect(await accept()).toMatchObject({ outcome: 'duplicate' });
      expect(runs).toEqual([]);
    },
  );

  test.each(['parked', 'failed', 'ignored', 'rejected'] as const)(
    'is too old if the journal has it as %s',
    async (outcome) => {
      const { accept, foresee, runs } = openForgotten({ outcome });
      expect(await foresee()).toMatchObject({ prospect: 'tooOld' });
      expect(await accept()).toMatchObject({ outcome: 'rejected', code: 'event_too_old' });
      expect(runs).toEqual([]);
    },
  );

  test('is too old if the journal has the id from another sender alone', async () => {
    const { accept, foresee } = openForgotten({ key: 'handled:from:4:acme:0::e1' });
    expect(await foresee()).toMatchObject({ prospect: 'tooOld' });
    expect(await accept()).toMatchObject({ code: 'event_too_old' });
  });

  test('is too old if the journal has the id from several other senders', async () => {
    const get = throwing(new JournalError('journal_id_ambiguous', 'two senders gave the id'));
    const { accept, foresee } = openForgotten(undefined, { get });
    expect(await foresee()).toMatchObject({ prospect: 'tooOld' });
    expect(await accept()).toMatchObject({ code: 'event_too_old' });
  });

  test.each([
    ['throws', throwing('no database')],
    ['rejects', () => Promise.reject(new JournalError('journal_unavailable', 'no database'))],
  ])('is failed, and not refused, if the journal %s', async (_title, get) => {
    const { accept, foresee, runs } = openForgotten(undefined, { get });
    const failure = {
      code: 'store_unavailable',
      message: expect.stringContaining('the journal did not say'),
    };
    await expect(foresee()).rejects.toMatchObject(failure);
    expect(await accept()).toMatchObject({ outcome: 'failed', code: 'store_unavailable', error: failure });
    expect(runs).toEqual([]);
  });

  test('runs with allowForgotten, without a question to the journal', async () => {
    const { accept, asked, event, foresee, runs } = openForgotten({ outcome: 'processed' });
    expect(await foresee({ allowForgotten: true })).toMatchObject({ prospect: 'wouldRun' });
    expect(await accept({ allowForgotten: true })).toMatchObject({ outcome: 'processed' });
    expect([runs, asked]).toEqual([[event.id], []]);
  });
});

test('of an event that the store remembers for certain the journal is not asked', async () => {
  const { accept, asked, clock, event, foresee, runs } = openForgotten({ outcome: 'processed' });
  clock.moveTo(23 * HOUR_MS);
  expect(await foresee()).toMatchObject({ prospect: 'wouldRun' });
  expect(await accept()).toMatchObject({ outcome: 'processed' });
  expect([runs, asked]).toEqual([[event.id], []]);
});
