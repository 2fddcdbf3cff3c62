import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { trace } from '@opentelemetry/api';
import express, { type RequestHandler } from 'express';
import fastify, { type FastifyPluginCallback } from 'fastify';
import Koa, { type Middleware } from 'koa';
import {
  type AnyEvent,
  createMemoryStore,
  createReceiver,
  type Delivery,
  type EventData,
  type EventType,
  isKnownEvent,
  type JournalEntry,
  type KnownEvent,
  type MiddlewareContext,
  type Pattern,
  type Receiver,
  type ReceiverOptions,
  type Report,
  type Rerun,
  type RerunOptions,
  type UnknownEvent,
  type UnknownType,
  type WebhookEvent,
} from 'posthorn';
import { toExpress } from 'posthorn/express';
import { toFastify } from 'posthorn/fastify';
import { toKoa } from 'posthorn/koa';
import { toNode } from 'posthorn/node';
import { observeWithOpenTelemetry } from 'posthorn/opentelemetry';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import { createMapJournal } from '../support/map-journal.ts';
import { KEY, serve } from '../support/served.ts';

const store = createMemoryStore();
const transfer = z.object({ id: z.string(), amount: z.number().int().transform(BigInt) });
const dispute = z.object({ id: z.string(), reason: z.enum(['fraud', 'other']).default('other') });
type Transfer = { id: string; amount: bigint };
type Dispute = { id: string; reason: 'fraud' | 'other' };
type Typed = { transfer: typeof transfer; dispute: typeof dispute };

function create() {
  return createReceiver({ signingKey: KEY, store });
}

function createTyped() {
  return createReceiver({ signingKey: KEY, store, schemas: { transfer, dispute } });
}

describe('a pattern types its event', () => {
  test('a type: one event', () => {
    create().on('transfer.succeeded', (event) => {
      expectTypeOf(event.type).toEqualTypeOf<'transfer.succeeded'>();
      expectTypeOf(event.data).toEqualTypeOf<EventData>();
      expectTypeOf(event.data.amount).toEqualTypeOf<number | undefined>();
      expectTypeOf(event.id).toBeString();
      expectTypeOf(event.created_at).toBeString();
      // @ts-expect-error another type
      expectTypeOf<typeof event.type>().toEqualTypeOf<'transfer.failed'>();
    });
  });

  test('a wildcard: the known types of its prefix and those to come', () => {
    create().on('transfer.*', (event) => {
      expectTypeOf<'transfer.succeeded'>().toExtend<typeof event.type>();
      expectTypeOf<'transfer.no_such_type'>().toExtend<typeof event.type>();
      expectTypeOf<'dispute.won'>().not.toExtend<typeof event.type>();
      if (isKnownEvent(event)) {
        type Known = 'transfer.created' | 'transfer.succeeded' | 'transfer.failed' | 'transfer.updated';
        expectTypeOf(event.type).toEqualTypeOf<Known>();
      }
    });
    create().on('merchant.verification.*', (event) => {
      expectTypeOf<'merchant.verification.failed'>().toExtend<typeof event.type>();
      expectTypeOf<'merchant.created'>().not.toExtend<typeof event.type>();
    });
  });

  test('"*": any text, which isKnownEvent narrows to the catalog', () => {
    create().on('*', (event) => {
      expectTypeOf(event).toEqualTypeOf<KnownEvent | UnknownEvent>();
      expectTypeOf(event).toExtend<AnyEvent>();
      expectTypeOf(event.type).toBeString();
      if (!isKnownEvent(event)) expectTypeOf(event).toEqualTypeOf<UnknownEvent>();
      if (isKnownEvent(event)) {
        expectTypeOf(event.type).toEqualTypeOf<EventType>();
        expectTypeOf(event).toEqualTypeOf<KnownEvent>();
      }
    });
  });

  test('a list: the union', () => {
    create().on(['transfer.created', 'dispute.won'], (event) => {
      expectTypeOf(event.type).toEqualTypeOf<'transfer.created' | 'dispute.won'>();
    });
  });

  test('the catalog has the 25 types of the interface', () => {
    expectTypeOf<'settlement.funding_transfer.failed'>().toExtend<EventType>();
    expectTypeOf<'payment_instrument.verification.succeeded'>().toExtend<EventType>();
    expectTypeOf<'subscription.canceled' | 'dispute.lost'>().toExtend<EventType>();
    expectTypeOf<EventType | '*' | 'settlement.funding_transfer.*'>().toExtend<Pattern>();
    expectTypeOf<string>().not.toExtend<EventType>();
  });
});

describe('schemas type data by entity, and hand over their output', () => {
  test('event.type narrows event.data', () => {
    createTyped()
      .on('transfer.succeeded', ({ data }) => expectTypeOf(data).toEqualTypeOf<Transfer>())
      .on('transfer.*', ({ data }) => expectTypeOf(data).toEqualTypeOf<Transfer>())
      .on('dispute.*', ({ data }) => expectTypeOf(data).toEqualTypeOf<Dispute>())
      .on('merchant.created', ({ data }) => expectTypeOf(data).toEqualTypeOf<EventData>())
      .on(['transfer.created', 'dispute.won', 'merchant.updated'], (event) => {
        if (event.type === 'transfer.created') expectTypeOf(event.data).toEqualTypeOf<Transfer>();
        else if (event.type === 'dispute.won') expectTypeOf(event.data).toEqualTypeOf<Dispute>();
        else expectTypeOf(event.data).toEqualTypeOf<EventData>();
      })
      .on('*', (event) => {
        if (!isKnownEvent(event)) return;
        switch (event.type) {
          case 'transfer.failed':
            return expectTypeOf(event.data).toEqualTypeOf<Transfer>();
          case 'dispute.lost':
            return expectTypeOf(event.data).toEqualTypeOf<Dispute>();
          case 'subscription.expired':
            return expectTypeOf(event.data).toEqualTypeOf<EventData>();
        }
      });
  });

  test('an event that is not in the catalog may have the data of any schema', () => {
    createTyped()
      .on('*', (event) => {
        expectTypeOf(event).toEqualTypeOf<KnownEvent<Typed> | UnknownEvent<Typed>>();
        expectTypeOf(event).toExtend<AnyEvent<Typed>>();
        if (!isKnownEvent(event)) expectTypeOf(event.data).toEqualTypeOf<EventData | Transfer | Dispute>();
      })
      .onUnhandled((event) => {
        expectTypeOf(event).toEqualTypeOf<KnownEvent<Typed> | UnknownEvent<Typed>>();
        expectTypeOf(event.data).toEqualTypeOf<EventData | Transfer | Dispute>();
        // A number by EventData, a bigint by the schema: only a look at the value tells.
        if ('amount' in event.data)
          expectTypeOf(event.data.amount).toEqualTypeOf<number | bigint | undefined>();
        if (isKnownEvent(event) && event.type === 'dispute.won')
          expectTypeOf(event.data).toEqualTypeOf<Dispute>();
      });
  });

  test('use gets the event of any handler', () => {
    createTyped().use((event, context, next) => {
      expectTypeOf(event).toEqualTypeOf<KnownEvent<Typed> | UnknownEvent<Typed>>();
      expectTypeOf(context).toEqualTypeOf<MiddlewareContext>();
      expectTypeOf(next).toEqualTypeOf<() => Promise<unknown>>();
    });
    observeWithOpenTelemetry(createTyped(), { tracerProvider: trace.getTracerProvider() });
  });

  test('and such an event is handed over as its schema put it out', async () => {
    const seen: unknown[] = [];
    const created = createEvent('transfer.no_such_type', { id: 'TR1', amount: 1250 }, { any: true });
    for (const register of [
      () => createTyped().on('*', ({ data }) => seen.push(data)),
      () => createTyped().onUnhandled(({ data }) => seen.push(data)),
    ]) {
      const url = await serve(register().observe(() => {}));
      const event = { ...created, id: `${created.id}_${seen.length}` };
      expect(await deliver(url, event, { key: KEY })).toHaveProperty('status', 200);
    }
    expect(seen).toEqual([
      { id: 'TR1', amount: 1250n },
      { id: 'TR1', amount: 1250n },
    ]);
  });

  test('and that is what handlers get', async () => {
    const seen: unknown[] = [];
    const receiver = createTyped()
      .on(['transfer.created', 'dispute.*', 'merchant.created'], ({ data }) => seen.push(data))
      .observe(() => {});
    const url = await serve(receiver);
    const sent = [
      createEvent('transfer.created', { id: 'TR1', amount: 1250, extra: true }),
      createEvent('dispute.won', { id: 'D1' }),
      createEvent('dispute.reopened', { id: 'D2' }, { any: true }),
      createEvent('merchant.created', { id: 'M1', extra: true }),
    ];
    for (const event of sent) expect(await deliver(url, event, { key: KEY })).toHaveProperty('status', 200);
    expect(seen).toEqual([
      { id: 'TR1', amount: 1250n },
      { id: 'D1', reason: 'other' },
      { id: 'D2', reason: 'other' },
      { id: 'M1', extra: true },
    ]);
  });

  test('data they refuse, or a schema that throws, fails with 500 and is reported; no handler runs', async () => {
    const seen: unknown[] = [];
    const reports: Report[] = [];
    const broken = z.unknown().transform((): number => {
      throw new Error('broken');
    });
    const receiver = createReceiver({ signingKey: KEY, store, schemas: { transfer, dispute: broken } })
      .on('*', (event) => seen.push(event))
      .observe((report) => reports.push(report));
    const url = await serve(receiver);
    for (const event of [
      createEvent('transfer.created', { id: 5 }),
      createEvent('dispute.won', { id: '4' }),
    ]) {
      const response = await deliver(url, event, { key: KEY });
      expect([response.status, await response.json()]).toMatchObject([500, { code: 'data_invalid' }]);
    }
    expect(seen).toEqual([]);
    expect(reports).toMatchObject([
      { outcome: 'failed', error: { name: 'DataError', issues: [{ path: ['id'] }, { path: ['amount'] }] } },
      { outcome: 'failed', error: { name: 'DataError', cause: { message: 'broken' } } },
    ]);
  });

  test('options that were typed apart still work', () => {
    const options: ReceiverOptions = { signingKey: KEY, store };
    createReceiver(options).on('transfer.created', ({ data }) =>
      expectTypeOf(data).toEqualTypeOf<EventData>(),
    );
  });
});

describe('in a handler of "*" a known type narrows the data, and an unknown one stays possible', () => {
  test('with if', () => {
    create().on('*', (event) => {
      if (event.type === 'transfer.succeeded') {
        expectTypeOf(event).toEqualTypeOf<Extract<KnownEvent, { type: 'transfer.succeeded' }>>();
        expectTypeOf(event.data).toEqualTypeOf<EventData>();
      } else expectTypeOf<UnknownEvent>().toExtend<typeof event>();
    });
    createTyped()
      .on('*', (event) => {
        if (event.type === 'transfer.succeeded') expectTypeOf(event.data).toEqualTypeOf<Transfer>();
        else if (event.type === 'dispute.won') expectTypeOf(event.data).toEqualTypeOf<Dispute>();
        else if (event.type === 'merchant.created') expectTypeOf(event.data).toEqualTypeOf<EventData>();
        else expectTypeOf(event.data).toEqualTypeOf<EventData | Transfer | Dispute>();
      })
      .on(['*', 'dispute.won'], (event) => {
        if (event.type === 'transfer.succeeded') expectTypeOf(event.data).toEqualTypeOf<Transfer>();
      })
      .onUnhandled((event) => {
        if (event.type === 'dispute.lost') expectTypeOf(event.data).toEqualTypeOf<Dispute>();
      });
  });

  test('with switch, whose default still has what is not in the catalog', () => {
    createTyped().on('*', (event) => {
      switch (event.type) {
        case 'transfer.created':
        case 'transfer.failed':
          expectTypeOf(event.type).toEqualTypeOf<'transfer.created' | 'transfer.failed'>();
          return expectTypeOf(event.data).toEqualTypeOf<Transfer>();
        case 'dispute.lost':
          return expectTypeOf(event.data).toEqualTypeOf<Dispute>();
        // @ts-expect-error misspelt
        case 'dispute.lots':
          return;
        default:
          expectTypeOf<UnknownType>().toExtend<typeof event.type>();
          expectTypeOf<'dispute.lost'>().not.toExtend<typeof event.type>();
      }
    });
  });

  test('a type that is not in the catalog is compared as a text, and its event handed to any function', async () => {
    const seen: string[] = [];
    const note = (event: AnyEvent): unknown => seen.push(event.type);
    const receiver = create()
      .on('*', (event) => {
        const type: string = event.type;
        if (type === 'invented.created') seen.push(event.id);
        note(event);
      })
      .on('transfer.*', note)
      .observe(() => {});
    const event = createEvent('invented.created', undefined, { any: true });
    expect(await deliver(await serve(receiver), event, { key: KEY })).toHaveProperty('status', 200);
    expect(seen).toEqual([event.id, 'invented.created']);
  });
});

test('createEvent takes data that may be undefined: a sample takes its place', () => {
  const create = (data?: { readonly amount: number }) => createEvent('transfer.created', data);
  expectTypeOf(create().data).toEqualTypeOf<{ readonly amount: number } | EventData>();
  expect(create({ amount: 12 }).data).toEqual({ amount: 12 });
  expect(create().data).toHaveProperty('state', 'PENDING');
});

describe('is an error for the compiler, and when it runs', () => {
  test('a misspelt pattern', () => {
    // @ts-expect-error misspelt
    expect(() => create().on('transfer.suceeded', () => {})).toThrow();
    // @ts-expect-error no such entity
    expect(() => create().on('transfers.*', () => {})).toThrow();
    // @ts-expect-error an entity alone
    expect(() => create().on('transfer', () => {})).toThrow();
    // @ts-expect-error nothing lies below a type
    expect(() => create().on('transfer.created.*', () => {})).toThrow();
    // @ts-expect-error misspelt in a list
    expect(() => create().on(['transfer.created', 'dispute.win'], () => {})).toThrow();
  });

  test('a misspelt type of createEvent', () => {
    // @ts-expect-error misspelt
    expect(() => createEvent('transfer.suceeded')).toThrow('Did you mean "transfer.succeeded"?');
    // @ts-expect-error misspelt, with data
    expect(() => createEvent('transfer.suceeded', { id: 'TR1' })).toThrow();
    // @ts-expect-error any text
    expect(() => createEvent(String('transfer'))).toThrow();
    // @ts-expect-error any: false
    expect(() => createEvent('invented.created', {}, { any: false })).toThrow();
    // @ts-expect-error the data of an event is an object
    expect(createEvent('transfer.created', 'text').data).toBe('text');
  });

  test('a misspelt entity of schemas, or a schema that is none', () => {
    const base = { signingKey: KEY, store };
    // @ts-expect-error misspelt
    expect(() => createReceiver({ ...base, schemas: { transfr: transfer } })).toThrow();
    // @ts-expect-error misspelt beside a right one
    expect(() => createReceiver({ ...base, schemas: { transfer, disputes: dispute } })).toThrow();
    // @ts-expect-error no schema
    expect(() => createReceiver({ ...base, schemas: { transfer: {} } })).toThrow();
  });

  test('an unknown, missing or wrong option', () => {
    // @ts-expect-error unknown
    expect(() => createReceiver({ signingKey: KEY, store, deadline: 5 })).toThrow();
    // @ts-expect-error missing
    expect(() => createReceiver({ store })).toThrow();
    // @ts-expect-error of the wrong type
    expect(() => createReceiver({ signingKey: KEY, store, deadlineMs: '5' })).toThrow();
    // @ts-expect-error members of another type of authentication
    expect(() => createReceiver({ signingKey: KEY, store, authentication: { type: 'BASIC' } })).toThrow();
    // @ts-expect-error unknown
    expect(() => create().on('*', () => {}, { nmae: 'book' })).toThrow();
    // @ts-expect-error unknown
    expect(() => toNode(create(), { paht: '/webhooks' })).toThrow();
  });
});

test('a signing key may come from an environment variable, at once or by a function', () => {
  const environment: NodeJS.ProcessEnv = { SIGNING_KEY: KEY };
  createReceiver({ signingKey: environment.SIGNING_KEY, store });
  createReceiver({ signingKey: () => environment.SIGNING_KEY, store });
  createReceiver({ signingKey: async () => environment.SIGNING_KEY, store });
  // @ts-expect-error a list of what may be undefined
  expect(() => createReceiver({ signingKey: [environment.ABSENT], store })).toThrow();
});

test('receive and verify take headers and bodies in the forms that libraries give', () => {
  type Headings = Parameters<Receiver['verify']>[1];
  expectTypeOf<Headings>().toEqualTypeOf<Delivery['headers']>();
  expectTypeOf<IncomingHttpHeaders>().toExtend<Headings>();
  expectTypeOf<NodeJS.Dict<string[]>>().toExtend<Headings>();
  expectTypeOf<Headers>().toExtend<Headings>();
  expectTypeOf<Map<string, string>>().toExtend<Headings>();
  expectTypeOf<Map<string, string[]>>().toExtend<Headings>();
  expectTypeOf<[string, string | string[] | undefined][]>().toExtend<Headings>();
  expectTypeOf<string[]>().toExtend<Headings>();
  expectTypeOf<Record<string, number | null>>().toExtend<Headings>();
  expectTypeOf<Record<string, boolean>>().not.toExtend<Headings>();
  expectTypeOf<string>().not.toExtend<Headings>();
  expectTypeOf<undefined>().not.toExtend<Headings>();

  type Body = Parameters<Receiver['verify']>[0];
  expectTypeOf<Body>().toEqualTypeOf<Awaited<ReturnType<Delivery['readBody']>>>();
  expectTypeOf<string | Buffer | Uint8Array | ArrayBuffer>().toExtend<Body>();
  expectTypeOf<() => Promise<Body>>().toExtend<Delivery['readBody']>();
  expectTypeOf<object>().not.toExtend<Body>();
  // @ts-expect-error no readBody
  const delivery: Delivery = { method: 'POST', headers: {} };
  expect(delivery).toBeDefined();
});

test('a context has what the design lists', () => {
  create().on('*', (_event, context) => {
    expectTypeOf(context.attempt).toBeNumber();
    expectTypeOf(context.final).toBeBoolean();
    expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>();
    expectTypeOf(context.deadlineAt).toBeNumber();
    expectTypeOf(context.receivedAt).toBeNumber();
    expectTypeOf(context.rawBody).toEqualTypeOf<Uint8Array>();
    expectTypeOf(context.rerun).toEqualTypeOf<Rerun | undefined>();
  });
});

test('rerun takes an entry of a journal and names of handlers', async () => {
  const journal = createMapJournal();
  const receiver = create().on('*', () => {}, { name: 'book' });
  const found = await journal.get('evt_1');
  expectTypeOf<Parameters<Receiver['rerun']>>().toEqualTypeOf<[entry: JournalEntry, options: RerunOptions]>();
  expectTypeOf<ReturnType<Receiver['rerun']>>().toEqualTypeOf<Promise<Report>>();
  // @ts-expect-error get() may have found none
  await expect(receiver.rerun(found, { handlers: ['book'] })).rejects.toThrow('entry of a journal');
  for await (const entry of journal.list()) await receiver.rerun(entry, { handlers: [] });
  // @ts-expect-error no names
  const unnamed: RerunOptions = { run: 'fix' };
  expect(unnamed).toBeDefined();
});

describe('concurrencyKey', () => {
  test('gets the event of its pattern, with the output of its schema', () => {
    create().on('transfer.created', () => {}, {
      name: 'book',
      concurrencyKey: (event) => {
        expectTypeOf(event).toEqualTypeOf<WebhookEvent<'transfer.created', EventData>>();
        return event.data.id;
      },
    });
    createTyped().on(['transfer.*', 'dispute.won'], () => {}, {
      name: 'book',
      concurrencyKey: (event) => {
        expectTypeOf(event.data).toEqualTypeOf<Transfer | Dispute>();
        return event.data.id;
      },
    });
    createTyped().on('*', () => {}, {
      name: 'book',
      concurrencyKey: (event) => {
        expectTypeOf(event).toEqualTypeOf<KnownEvent<Typed> | UnknownEvent<Typed>>();
        return event.id;
      },
    });
  });

  test('returns a text; undefined compiles, because the id of a resource may be missing', () => {
    create()
      .on('transfer.*', () => {}, { name: 'one', concurrencyKey: ({ data }) => data.id })
      .on('transfer.*', () => {}, { name: 'two', concurrencyKey: () => undefined })
      // @ts-expect-error a number
      .on('transfer.*', () => {}, { name: 'three', concurrencyKey: ({ data }) => data.amount })
      // @ts-expect-error a promise
      .on('transfer.*', () => {}, { name: 'four', concurrencyKey: async ({ id }) => id });
  });

  test('onUnhandled has none', () => {
    // @ts-expect-error it takes no options
    create().onUnhandled(() => {}, { concurrencyKey: () => 'a' });
  });
});

test('onUnhandled and verify give any event', () => {
  create().onUnhandled((event, { known }) => {
    expectTypeOf(event).toEqualTypeOf<KnownEvent | UnknownEvent>();
    expectTypeOf(known).toBeBoolean();
  });
  expectTypeOf(create().verify).returns.resolves.toEqualTypeOf<AnyEvent>();
});

test('createEvent keeps the type and the data', () => {
  const event = createEvent('transfer.created', { id: 'TR1' });
  expectTypeOf(event.type).toEqualTypeOf<'transfer.created'>();
  expectTypeOf(event.data).toEqualTypeOf<{ id: string }>();
  expectTypeOf(createEvent('transfer.created')).toEqualTypeOf<WebhookEvent<'transfer.created'>>();
  const added = createEvent('invented.created', undefined, { any: true });
  expectTypeOf(added).toEqualTypeOf<WebhookEvent<'invented.created'>>();
  expectTypeOf(createEvent('invented.created', { id: 'P1' }, { any: true }).data).toEqualTypeOf<{
    id: string;
  }>();
  expect(event).toMatchObject({ type: 'transfer.created', data: { id: 'TR1' } });
});

test('the adapters fit their frameworks, whatever the schemas of the receiver', () => {
  for (const receiver of [create(), createTyped()]) {
    const listener: RequestListener = toNode(receiver, { path: '/webhooks' });
    const handler: RequestHandler = toExpress(receiver);
    createServer(listener).close();
    createServer(toNode(receiver)).close();
    const app = express();
    app.post('/webhooks', toExpress(receiver));
    app.use('/webhooks', handler);
    app.use(toExpress(receiver, { path: '/webhooks' }));
    app.use(toNode(receiver, { path: '/webhooks' }));
    const plugin: FastifyPluginCallback = toFastify(receiver, { path: '/webhooks' });
    const middleware: Middleware = toKoa(receiver);
    fastify().register(plugin, { prefix: '/api' });
    fastify({ http2: true }).register(toFastify(receiver, { path: '/webhooks' }), { prefix: '/api' });
    new Koa().use(middleware).use(toKoa(receiver, { path: '/webhooks' }));
    for (const mounted of [listener, handler, plugin, middleware]) expect(mounted).toBeTypeOf('function');
  }
});
