import { Readable } from 'node:stream';
import {
  type ClaimRequest,
  createMemoryStore,
  createReceiver,
  type ReceiverOptions,
  type Report,
  type Store,
} from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { IdImport } from '../../src/cli/ids/id-import.ts';
import { readIdList } from '../../src/cli/ids/id-list.ts';
import { defaults } from '../../src/create-receiver.ts';
import { readOptions } from '../../src/receiver/settings.ts';
import { asUserStore } from '../receiver/handling/run/user-store.ts';
import { ListQueue } from '../receiver/queue/list-queue.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { deliveryOfOther, otherSender } from '../support/other-sender.ts';
import { KEY } from '../support/served.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { unanswered } from '../support/unanswered.ts';
import { letter } from './letters.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const terms = { leaseMs: HOUR_MS, retentionMs: HOUR_MS };

/** A receiver, and an import into its store that asks again for so long. */
function open(options: Omit<ReceiverOptions, 'signingKey'> = {}, answerLimitMs?: number) {
  const store = options.store ?? createMemoryStore();
  const given = { signingKey: KEY, ...options, store };
  const handled: string[] = [];
  let report: Partial<Report> = {};
  const receiver = createReceiver(given)
    .on('*', ({ id }) => handled.push(id), options.queue && { name: 'book', queue: true })
    .observe((latest) => {
      report = latest;
    });
  const ids = new IdImport(readOptions(given, defaults), undefined, answerLimitMs);
  const take = (id: string, ageMs = HOUR_MS) => ids.take({ id, recordedAt: Date.now() - ageMs });
  const send = async (id: string) => {
    await deliver(receiver, { ...createEvent('transfer.succeeded'), id }, { key: KEY });
    return report.outcome;
  };
  return { attempts: () => report.attempt, handled, send, store, take };
}

/** Ends once an import has claimed the last id of `evt_1`, and never completes it: its process was killed. */
function killImport(options: Omit<ReceiverOptions, 'signingKey'> & { readonly store: Store }): Promise<void> {
  return new Promise((resolve) => {
    const complete = () => {
      resolve();
      return unanswered();
    };
    const store = { ...options.store, complete, commandTimeoutMs: 60_000 };
    open({ ...options, store }, 0)
      .take('evt_1')
      .catch(() => {});
  });
}

describe('an import', () => {
  test('completes an old id, so that its event is a duplicate', async () => {
    const { handled, send, take } = open();
    expect(await take('evt_1')).toBe('imported');
    expect(await send('evt_1')).toBe('duplicate');
    expect(handled).toEqual([]);
  });

  test('completes the keys of another provider, from the end of its retries on', async () => {
    const dayMs = 24 * HOUR_MS;
    const store = createMemoryStore();
    const provider = otherSender('acme', { forMs: 3 * dayMs, least: 5 });
    const options = { signingKey: KEY, store, provider };
    const ran: string[] = [];
    const receiver = createReceiver(options).on('*', ({ event_id }) => ran.push(event_id));
    receiver.observe(() => {});
    const ids = new IdImport(readOptions(options, defaults));
    const take = (id: string, ageMs: number) => ids.take({ id, recordedAt: Date.now() - ageMs });
    expect(await take('evt_young', 3 * dayMs + 10 * MINUTE_MS - 5_000)).toBe('young');
    expect(await take('evt_old', 3 * dayMs + 10 * MINUTE_MS + 1)).toBe('imported');
    const peek = async (id: string) => (await store.peek?.({ id }))?.state;
    expect([await peek('handled:from:4:acme:-:evt_old'), await peek('evt_old')]).toEqual([
      'completed',
      'unknown',
    ]);
    for (const event_id of ['evt_young', 'evt_old'])
      await receiver.receive(deliveryOfOther({ event_id, type: 'refund' }));
    expect(ran).toEqual(['evt_young']);
    expect(await open({ store }).send('evt_old')).toBe('processed');
  });

  test.each([
    { schedule: undefined, oldMs: 31 * MINUTE_MS },
    { schedule: [HOUR_MS, 5 * HOUR_MS], oldMs: 6 * HOUR_MS + 10 * MINUTE_MS },
  ])('leaves an id out until no retry can come: $oldMs', async ({ schedule, oldMs }) => {
    const { handled, send, take } = open(schedule && { retryScheduleMs: schedule });
    expect(await take('evt_young', oldMs - 5_000)).toBe('young');
    expect(await take('evt_future', -HOUR_MS)).toBe('young');
    expect(await take('evt_old', oldMs + 1)).toBe('imported');
    expect(await send('evt_young')).toBe('processed');
    expect(await send('evt_old')).toBe('duplicate');
    expect(handled).toEqual(['evt_young']);
  });

  test('remembers an id as long as one that the receiver has completed', async () => {
    const clock = { now: 0 };
    const store = createMemoryStore({ now: () => clock.now });
    const { take } = open({ store, retentionMs: HOUR_MS, maxEventAgeMs: 3 * HOUR_MS });
    await take('evt_1', HOUR_MS);
    const isKnown = () => store.claim({ id: 'evt_1', token: 'another', ...terms });
    // The event may be accepted for two more hours, and clocks may differ by ten minutes.
    clock.now = 2 * HOUR_MS + 9 * MINUTE_MS;
    expect(isKnown()).toEqual({ state: 'completed' });
    clock.now += 2 * MINUTE_MS;
    expect(isKnown()).toMatchObject({ state: 'claimed' });
  });

  test.each([
    { kind: 'the store', as: (store: Store): Store => store },
    { kind: 'the store of a user', as: asUserStore },
  ])('leaves ids alone that $kind knows', async ({ as }) => {
    const { store, take } = open({ store: as(createMemoryStore()) });
    await store.claim({ id: 'evt_running', token: 'run', ...terms });
    await store.complete({ id: 'evt_done', token: 'run', ...terms });
    await store.claim({ id: 'evt_failed', token: 'run', ...terms });
    await store.release({ id: 'evt_failed', token: 'run', ...terms, handled: ['book'] });
    for (const id of ['evt_running', 'evt_done', 'evt_failed']) expect(await take(id)).toBe('known');
    expect(await store.claim({ id: 'evt_running', token: 'run', ...terms })).toMatchObject({ attempt: 1 });
    const retry = await store.claim({ id: 'evt_failed', token: 'retry', ...terms });
    // The import is not an attempt that brings the last one closer.
    expect(retry).toMatchObject({ state: 'claimed', spacedAttempts: 2, abandoned: 0, handled: ['book'] });
  });

  test('takes up an id that an interrupted import has claimed', async () => {
    const store = createMemoryStore();
    await killImport({ store });
    expect(await store.claim({ id: 'evt_1', token: 'another', ...terms })).toMatchObject({ state: 'busy' });
    expect(await open({ store }).take('evt_1')).toBe('imported');
  });

  test.each([
    { way: 'is handled', queue: undefined, outcome: 'processed' },
    { way: 'gets into the queue', queue: new ListQueue(), outcome: 'queued' },
  ])(
    'that was killed is not an attempt: its event $way when it is sent again',
    async ({ queue, outcome }) => {
      const clock = { now: 0 };
      const store = createMemoryStore({ now: () => clock.now });
      await killImport({ store, queue });
      clock.now += HOUR_MS;
      const { attempts, send } = open({ store, queue, deadLetters: createMapDeadLetters() });
      expect(await send('evt_1')).toBe(outcome);
      expect(attempts()).toBe(1);
    },
  );

  test('asks the store before it claims, and claims nothing that was handled', async () => {
    const store = createMemoryStore();
    const claims: string[] = [];
    const claim: Store['claim'] = (request) => {
      claims.push(request.id);
      return store.claim(request);
    };
    const { take } = open({ store: { ...store, claim } });
    await store.complete({ id: 'evt_1', token: 'run', ...terms });
    expect([await take('evt_1'), await take('evt_2')]).toEqual(['known', 'imported']);
    expect(claims).toEqual(['evt_2']);
  });

  test('asks again if the store fails for a moment', async () => {
    const store = createMemoryStore();
    const flaky = <Request, Result>(operation: (request: Request) => Result) => {
      let failures = 2;
      return (request: Request) => {
        failures -= 1;
        if (failures >= 0) throw new Error('ECONNRESET');
        return operation(request);
      };
    };
    const peek = store.peek && flaky(store.peek);
    const { send, take } = open({ store: { ...store, peek, claim: flaky(store.claim) } });
    expect(await take('evt_1')).toBe('imported');
    expect(await send('evt_1')).toBe('duplicate');
  });

  test.each(['claim', 'complete'] as const)(
    'takes up an id whose %s was not answered, also after its lease',
    async (operation) => {
      const clock = { now: 0 };
      const store = createMemoryStore({ now: () => clock.now });
      const lost: Store = {
        ...store,
        [operation]: async (request: ClaimRequest) => {
          if (operation === 'claim') await store.claim(request);
          throw new Error('the answer was lost');
        },
      };
      await expect(open({ store: lost }, 0).take('evt_1')).rejects.toMatchObject({
        code: 'store_unavailable',
      });
      clock.now += HOUR_MS;
      const { send, take } = open({ store });
      expect(await take('evt_1')).toBe('imported');
      expect(await send('evt_1')).toBe('duplicate');
    },
  );

  test('leaves an id alone that has a dead letter, so that its replay runs the handlers', async () => {
    const deadLetters = createFileDeadLetters(temporaryDirectory());
    await deadLetters.put(letter('evt_1'));
    const { send, take } = open({ deadLetters });
    expect(await take('evt_1')).toBe('known');
    expect(await send('evt_1')).toBe('processed');
  });

  test('with a queue completes the way into the queue too', async () => {
    const queue = new ListQueue();
    const { send, take } = open({ queue });
    expect(await take('evt_1')).toBe('imported');
    expect(await send('evt_1')).toBe('duplicate');
    expect(queue.jobs).toEqual([]);
    expect(await send('evt_2')).toBe('queued');
  });
});

describe('a list of ids', () => {
  const at = Date.UTC(2026, 2, 31, 9, 30);
  /** Reads a list that comes byte by byte, so that each character and line end is cut somewhere. */
  const read = async (text: string, encoding: BufferEncoding = 'utf8') => {
    const recorded: unknown[] = [];
    const invalid: number[] = [];
    const bytes = Array.from(Buffer.from(text, encoding), (byte) => Buffer.of(byte));
    for await (const line of readIdList(Readable.from(bytes))) {
      if (line.recorded === undefined) invalid.push(line.number);
      else recorded.push(line.recorded);
    }
    return { recorded, invalid };
  };

  test.each([
    ['milliseconds', String(at)],
    ['ISO 8601 in UTC', '2026-03-31T09:30:00Z'],
    ['ISO 8601 with a zone', '2026-03-31T11:30:00.000+02:00'],
    ['the text of PostgreSQL', '2026-03-31 09:30:00.000+00'],
  ])('has times in %s', async (_, time) => {
    expect(await read(`evt_1\t${time}\r\n\nevt\t2\t${time}`)).toEqual({
      recorded: [
        { id: 'evt_1', recordedAt: at },
        { id: 'evt\t2', recordedAt: at },
      ],
      invalid: [],
    });
  });

  test.each([
    ['no time', 'evt_1'],
    ['no id', `\t${at}`],
    ['seconds, which would be a time in 1970', `evt_1\t${at / 1_000}`],
    ['seconds with leading zeros', `evt_1\t${String(at / 1_000).padStart(13, '0')}`],
    ['microseconds', `evt_1\t${at}000`],
    ['a time without a zone', 'evt_1\t2026-03-31T09:30:00'],
    ['a day', 'evt_1\t2026-03-31'],
    ['a day that does not exist', 'evt_1\t2026-02-30T09:30:00Z'],
    ['a heading', 'id\trecorded_at'],
    ['a backslash alone', `evt\\\t${at}`],
    ['a backslash before another letter', `evt\\x41\t${at}`],
    ['the null of PostgreSQL', `\\N\t${at}`],
  ])('does not take a line with %s', async (_, line) => {
    expect(await read(`evt_0\t${at}\n${line}\n`)).toEqual({
      recorded: [{ id: 'evt_0', recordedAt: at }],
      invalid: [2],
    });
  });

  test('may begin with a byte order mark, and have ids in any script', async () => {
    expect(await read(`\uFEFFevt_é漢\t${at}\n`)).toEqual({
      recorded: [{ id: 'evt_é漢', recordedAt: at }],
      invalid: [],
    });
  });

  test.each(['latin1', 'utf16le'] as const)('does not take a line that is in %s', async (encoding) => {
    expect(await read(`evt_é\t${at}\n`, encoding)).toEqual({
      recorded: [],
      invalid: expect.arrayContaining([1]),
    });
  });

  test('has the characters of an id as copy of PostgreSQL escapes them', async () => {
    const id = String.raw`\\\n"'\t\n\r\b\f\v\\`;
    expect(await read(`${id}\t${at}\n`)).toEqual({
      recorded: [{ id: '\\\n"\'\t\n\r\b\f\v\\', recordedAt: at }],
      invalid: [],
    });
  });

  test('may be longer than the longest text of V8; a line longer than any event is not taken', async () => {
    const chunks = function* () {
      const part = Buffer.alloc(2 ** 20, 'a');
      for (let left = 511; left > 0; left -= 1) yield part;
      yield* [Buffer.from(`\t${at}\n`), part, part.subarray(14), Buffer.from(`\t${at}\n`), part.subarray(14)];
      yield Buffer.from(`\t${at}\n`);
    };
    const ids: unknown[] = [];
    for await (const { recorded } of readIdList(Readable.from(chunks()))) ids.push(recorded?.id.length);
    expect(ids).toEqual([undefined, undefined, 2 ** 20 - 14]);
  });
});
