import {
  createMemoryStore,
  type DeadLetters,
  type EventData,
  type Report,
  type Store,
  type WebhookEvent,
} from 'posthorn';
import { describe, expect, test } from 'vitest';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { nastyValues } from '../../support/nasty-values.ts';
import {
  type Answer,
  accepted,
  type Endpoint,
  eventAt,
  openEndpoint,
  refused,
} from '../../support/open-endpoint.ts';
import { usePrintedErrors } from '../../support/printed-errors.ts';
import { KEY } from '../../support/served.ts';
import { throwing } from '../../support/throwing.ts';
import { expectNoUnhandledRejections } from '../../support/unhandled-rejections.ts';
import { until } from '../../support/until.ts';

const { printed } = usePrintedErrors();

expectNoUnhandledRejections();

interface Case {
  readonly name: string;
  readonly value: unknown;
  readonly event: WebhookEvent<'transfer.succeeded', EventData>;
}

/** An event for each of the values. */
function casesOf(createdAt: number = Date.now()): readonly Case[] {
  return nastyValues.map((nasty) => {
    const event = eventAt(createdAt);
    return { ...nasty, event: { ...event, data: { id: event.id } } };
  });
}

/** Gives the nasty value of an id once, or always, in one of the ways in which a function fails. */
class Failures {
  readonly #values: Map<string, unknown>;
  readonly #fail: (value: unknown) => Promise<never>;

  constructor(cases: readonly Case[], fail: (value: unknown) => Promise<never>) {
    this.#values = new Map(cases.map(({ event, value }) => [event.id, value]));
    this.#fail = fail;
  }

  always<T>(id: string, otherwise: () => T): T | Promise<never> {
    return this.#values.has(id) ? this.#fail(this.#values.get(id)) : otherwise();
  }

  once<T>(id: string, otherwise: () => T): T | Promise<never> {
    if (!this.#values.has(id)) return otherwise();
    const value = this.#values.get(id);
    this.#values.delete(id);
    return this.#fail(value);
  }
}

const ways = [
  {
    way: 'thrown',
    fail: (value: unknown): never => {
      throw value;
    },
  },
  { way: 'rejected with', fail: (value: unknown) => Promise.reject(value) },
] as const;

type Named<T> = readonly (readonly [string, T])[];

/** The answers to the event of each case, by the names of the values: thousands, so without sockets. */
async function sendAll({ receive }: Endpoint, cases: readonly Case[]): Promise<Named<Answer>> {
  return Promise.all(cases.map(async ({ name, event }) => [name, await receive(event)] as const));
}

function each<T>(cases: readonly Case[], expected: (each: Case) => T): Named<T> {
  return cases.map((each) => [each.name, expected(each)]);
}

function processed(cases: readonly Case[]): Named<Answer> {
  return each(cases, ({ event }) => accepted('processed', event.id));
}

/** What observers and logs do with a report. */
function expectReadable({ error, warnings }: Report): void {
  expect(`${error} ${error?.code} ${error?.name} ${error?.stack} ${error?.message}`).toEqual(
    expect.any(String),
  );
  for (const text of [error?.message ?? '', ...warnings]) expect(text.length).toBeLessThan(3_000);
}

const fail = throwing('no booking today');

for (const { way, fail: failWith } of ways) {
  describe(`whatever is ${way}`, () => {
    test('by a handler: 500, the report has it as the cause, and the retry runs again', async () => {
      const cases = casesOf();
      const failures = new Failures(cases, failWith);
      const endpoint = await openEndpoint({}, (receiver) => {
        receiver.on('*', ({ id }) => failures.once(id, () => {}));
      });
      expect(await sendAll(endpoint, cases)).toEqual(each(cases, () => refused(500, 'handler_failed')));
      for (const { name, value, event } of cases) {
        const report = await endpoint.reports.first((each) => each.event?.id === event.id);
        expectReadable(report);
        expect(Object.is(report.error?.cause, value), name).toBe(true);
      }
      expect(await sendAll(endpoint, cases)).toEqual(processed(cases));
    });

    test('by one of two handlers: the other one is not run again', async () => {
      const cases = casesOf();
      const failures = new Failures(cases, failWith);
      const booked: string[] = [];
      const endpoint = await openEndpoint({}, (receiver) => {
        receiver.on('*', ({ id }) => failures.once(id, () => {}), { name: 'mail' });
        receiver.on('*', ({ id }) => booked.push(id), { name: 'book' });
      });
      expect(await sendAll(endpoint, cases)).toEqual(each(cases, () => refused(500, 'handler_failed')));
      expect(await sendAll(endpoint, cases)).toEqual(processed(cases));
      expect(booked).toHaveLength(cases.length);
    });

    test('by a schema: 500, and the retry runs', async () => {
      const cases = casesOf();
      const failures = new Failures(cases, failWith);
      const validate = (data: { id: string }) => failures.once(data.id, () => ({ value: data }));
      const transfer = { '~standard': { version: 1, vendor: 'test', validate } };
      const endpoint = await openEndpoint({ schemas: { transfer } });
      expect(await sendAll(endpoint, cases)).toEqual(each(cases, () => refused(500, 'data_invalid')));
      for (const report of endpoint.reports.all) expectReadable(report);
      expect(await sendAll(endpoint, cases)).toEqual(processed(cases));
    });

    for (const operation of ['claim', 'complete', 'release', 'renew'] as const) {
      test(`by ${operation} of a store: the event is handled, now or at the retry`, async () => {
        const cases = casesOf();
        const failures = new Failures(cases, failWith);
        const memory = createMemoryStore();
        const seen = new Set<string>();
        const failing: Store = {
          ...memory,
          [operation]: (request: Parameters<Store['renew']>[0] & Parameters<Store['release']>[0]) => {
            seen.add(request.id);
            return failures.once(request.id, () => memory[operation](request));
          },
        };
        const isFirst = new Set(cases.map(({ event }) => event.id));
        // Long enough that a busy machine renews in time, once more after a renewal that fails.
        const endpoint = await openEndpoint({ store: failing, leaseMs: 3_000 }, (receiver) => {
          receiver.on('*', async ({ id }) => {
            if (operation === 'renew') await until('a renewal', () => seen.has(id));
            if (operation === 'release' && isFirst.delete(id)) fail();
          });
        });
        const first = await sendAll(endpoint, cases);
        const refusals = {
          claim: refused(503, 'store_unavailable'),
          release: refused(500, 'handler_failed'),
        };
        if (operation === 'claim' || operation === 'release') {
          expect(first).toEqual(each(cases, () => refusals[operation]));
          expect(await sendAll(endpoint, cases)).toEqual(processed(cases));
        } else expect(first).toEqual(processed(cases));
        expect(seen.size).toBe(cases.length);
        for (const report of endpoint.reports.all) expectReadable(report);
      });
    }

    test('by dead letters: a last attempt is run and answered as without them', async () => {
      const cases = casesOf(Date.now() - 20 * 60_000);
      const failures = new Failures(cases, failWith);
      const deadLetters: DeadLetters = {
        put: async ({ id }) => failures.always(id, () => undefined),
        get: (id) => failures.always(id, async () => undefined),
        remove: (id) => failures.always(id, async () => false),
        async *list() {},
      };
      const isFirst = new Set(cases.map(({ event }) => event.id));
      const endpoint = await openEndpoint({ deadLetters }, (receiver) => {
        receiver.on('*', ({ id }) => isFirst.delete(id) && fail());
      });
      expect(await sendAll(endpoint, cases)).toEqual(each(cases, () => refused(500, 'handler_failed')));
      expect(await sendAll(endpoint, cases)).toEqual(processed(cases));
      for (const report of endpoint.reports.all) {
        expectReadable(report);
        expect(report.warnings).toContainEqual(expect.stringMatching(/^dead_letter_not_stored: ./));
      }
    });

    test('by the function that gives the keys: 503, and the next delivery is handled', async () => {
      let signingKey = async (): Promise<string> => KEY;
      const endpoint = await openEndpoint({ signingKey: () => signingKey() });
      for (const { name, value, event } of casesOf()) {
        signingKey = () => failWith(value);
        expect([name, await endpoint.receive(event)]).toEqual([name, refused(503, 'keys_unavailable')]);
        signingKey = async () => KEY;
        expect([name, await endpoint.receive(event)]).toEqual([name, accepted('processed', event.id)]);
      }
      for (const report of endpoint.reports.all) expectReadable(report);
    });

    test('by an observer changes no answer, stops no other observer, and is told of in a short line', async () => {
      const cases = casesOf();
      const failures = new Failures(cases, failWith);
      const endpoint = await openEndpoint({}, (receiver) => {
        receiver.observe(({ event }) => failures.always(event?.id ?? '', () => undefined)).on('*', () => {});
      });
      expect(await sendAll(endpoint, cases)).toEqual(processed(cases));
      expect(endpoint.reports.all).toHaveLength(cases.length);
      const lines = printed();
      expect(lines).toHaveLength(cases.length);
      for (const line of lines) expect(line).toMatch(/^posthorn: an observer failed: .{1,600}$/);
    });
  });
}

describe('whatever is returned', () => {
  test('by an observer changes no answer', async () => {
    const cases = casesOf();
    const values = new Map(cases.map(({ event, value }) => [event.id, value]));
    const endpoint = await openEndpoint({}, (receiver) => {
      receiver.observe(({ event }) => values.get(event?.id ?? '')).on('*', () => {});
    });
    expect(await sendAll(endpoint, cases)).toEqual(processed(cases));
  });

  test('by an observer as a rejected promise with a `catch` of its own changes no answer', async () => {
    const cases = casesOf();
    const endpoint = await openEndpoint({}, (receiver) => {
      const deaf = { catch: () => {} };
      receiver.observe(() => Object.assign(Promise.reject(new Error('down')), deaf)).on('*', () => {});
    });
    expect(await sendAll(endpoint, cases)).toEqual(processed(cases));
    expect(printed()).toHaveLength(cases.length);
  });

  test('by dead letters as an earlier letter: a last attempt runs all the same', async () => {
    const cases = [...casesOf(Date.now() - 20 * 60_000)];
    const values = new Map(cases.map(({ event, value }) => [event.id, value]));
    const get = async (id: string): Promise<unknown> => values.get(id);
    const deadLetters: DeadLetters = Object.assign(createMapDeadLetters(), { get });
    const endpoint = await openEndpoint({ deadLetters });
    expect(await sendAll(endpoint, cases)).toEqual(processed(cases));
    for (const report of endpoint.reports.all) {
      expectReadable(report);
      const isNone = values.get(report.event?.id ?? '') == null;
      expect(report.warnings).toEqual(isNone ? [] : [expect.stringMatching(/^dead_letter_not_read: ./)]);
    }
  });

  test('by a schema as its result or its issues: 500, or what it has of a value', async () => {
    const cases = casesOf();
    const values = new Map(cases.map(({ event, value }) => [event.id, value]));
    const answers = [
      (value: unknown) => ({ issues: value }),
      (value: unknown) => ({ issues: [value] }),
      (value: unknown) => ({ issues: [{ message: value }] }),
      (value: unknown) => ({ issues: [{ message: 'm', path: [value] }] }),
    ];
    for (const answerWith of answers) {
      const validate = (data: { id: string }) => answerWith(values.get(data.id));
      const transfer = { '~standard': { version: 1, vendor: 'test', validate } };
      const endpoint = await openEndpoint({ schemas: { transfer } });
      for (const { status } of (await sendAll(endpoint, cases)).map(([, answer]) => answer)) {
        expect([200, 500]).toContain(status);
      }
      for (const report of endpoint.reports.all) expectReadable(report);
    }
  });

  test('by a schema as the output is handed to the handler as it is', async () => {
    const cases = casesOf();
    const values = new Map(cases.map(({ event, value }) => [event.id, value]));
    const validate = (data: { id: string }) => ({ value: values.get(data.id) });
    const transfer = { '~standard': { version: 1, vendor: 'test', validate } };
    const endpoint = await openEndpoint({ schemas: { transfer } }, (receiver) => {
      receiver.on('*', ({ id, data }) => {
        if (!Object.is(data, values.get(id))) throw new Error('not the output of the schema');
      });
    });
    expect(await sendAll(endpoint, cases)).toEqual(processed(cases));
  });
});
