import { createServer } from 'node:http';
import express from 'express';
import fastify from 'fastify';
import Koa from 'koa';
import {
  createMemoryStore,
  createReceiver,
  type DeadLetter,
  defineProvider,
  type EventFilter,
  type EventIdentity,
  type EventOf,
  type FilterOf,
  type HandlerContext,
  hmacSignature,
  type KnownEvent,
  type MiddlewareContext,
  type PatternOf,
  type Provider,
  type Receiver,
  type ReceiverOptions,
  type Report,
  type TypedEvent,
  type TypeFilter,
  type VerifiedEvent,
} from 'posthorn';
import { createBullWorker } from 'posthorn/bullmq';
import { toExpress } from 'posthorn/express';
import { toFastify } from 'posthorn/fastify';
import { toFetch } from 'posthorn/fetch';
import { toKoa } from 'posthorn/koa';
import { toLambda } from 'posthorn/lambda';
import { observeWithLogger } from 'posthorn/logger';
import { receiverHealth } from 'posthorn/nestjs';
import { toHealth, toNode } from 'posthorn/node';
import { observeWithOpenTelemetry } from 'posthorn/opentelemetry';
import { observeWithPrometheus } from 'posthorn/prometheus';
import { adapterConformance, deliver } from 'posthorn/testing';
import { Registry } from 'prom-client';
import { describe, expect, expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import { KEY } from '../support/served.ts';
import type { WideEvent, WideEventOf, WideType } from './wide-union.ts';

type NoSchemas = Record<never, never>;

/** A provider of a union of 275 events, whose types are not listed. */
const wide: Provider<WideEvent> = providerOf<WideEvent>();

function providerOf<E extends TypedEvent>(types?: readonly string[]): Provider<E> {
  return defineProvider<E>({
    name: 'wide',
    signature: hmacSignature({ encoding: 'hex', read: () => ({ signatures: [] }) }),
    readEvent: ({ rawBody }) => JSON.parse(Buffer.from(rawBody).toString()),
    answerWithinMs: 10_000,
    retries: { forMs: 259_200_000, least: 3 },
    types,
  });
}

function create() {
  return createReceiver({ provider: wide, signingKey: KEY, store: createMemoryStore() });
}

describe('a pattern extracts its events from the union of the provider', () => {
  test('a type: one event', () => {
    create().on('thing_0_0.created', (event, context) => {
      expectTypeOf(event).toEqualTypeOf<WideEventOf<'thing_0_0.created'>>();
      expectTypeOf(event.data.object.of).toEqualTypeOf<'thing_0_0.created'>();
      expectTypeOf(context).toEqualTypeOf<HandlerContext>();
      expectTypeOf(context.event).toEqualTypeOf<EventIdentity>();
    });
  });

  test('a prefix: the events that begin with it', () => {
    type OfPrefix = EventOf<'thing_0_0.*', NoSchemas, WideEvent>;
    type Lines = WideEventOf<'thing_0_0.line.added'> | WideEventOf<'thing_0_0.line.removed'>;
    create()
      .on('thing_0_0.*', (event) => {
        expectTypeOf(event.type).toEqualTypeOf<Extract<WideType, `thing_0_0.${string}`>>();
        expectTypeOf(event).toEqualTypeOf<OfPrefix>();
      })
      .on('thing_0_0.line.*', (event) => {
        expectTypeOf(event).toEqualTypeOf<Lines>();
        if (event.type === 'thing_0_0.line.added')
          expectTypeOf(event.data.object.of).toEqualTypeOf<'thing_0_0.line.added'>();
      });
  });

  test('a list: the events of each', () => {
    type Two = WideEventOf<'thing_1_1.created'> | WideEventOf<'thing_2_2.deleted'>;
    create().on(['thing_1_1.created', 'thing_2_2.deleted'], (event) =>
      expectTypeOf(event).toEqualTypeOf<Two>(),
    );
  });

  test('"*": the whole union, which a type narrows', () => {
    create().on('*', (event) => {
      expectTypeOf(event).toEqualTypeOf<WideEvent>();
      if (event.type === 'thing_3_3.updated')
        expectTypeOf(event).toEqualTypeOf<WideEventOf<'thing_3_3.updated'>>();
    });
    create()
      .onUnhandled((event, details) => {
        expectTypeOf(event).toEqualTypeOf<WideEvent>();
        expectTypeOf(details).toEqualTypeOf<{ readonly known: boolean }>();
      })
      .use((event, context, next) => {
        expectTypeOf(event).toEqualTypeOf<WideEvent>();
        expectTypeOf(context).toEqualTypeOf<MiddlewareContext>();
        return next();
      });
  });

  test('the options of a handler know its event', () => {
    create().on('thing_0_0.created', () => {}, {
      name: 'book',
      concurrencyKey: (event) => {
        expectTypeOf(event).toEqualTypeOf<WideEventOf<'thing_0_0.created'>>();
        return event.data.object.of;
      },
    });
  });

  test('verify and eventFilters', () => {
    expectTypeOf(create().verify).returns.resolves.toEqualTypeOf<WideEvent>();
    expectTypeOf(create().eventFilters).returns.toEqualTypeOf<TypeFilter[]>();
    expectTypeOf<VerifiedEvent<WideEvent>>().toEqualTypeOf<WideEvent>();
    expectTypeOf<FilterOf<WideEvent>>().toEqualTypeOf<TypeFilter>();
    expectTypeOf<FilterOf<KnownEvent>>().toEqualTypeOf<EventFilter>();
    expectTypeOf<FilterOf>().toEqualTypeOf<EventFilter>();
  });

  test('a misspelt pattern does not compile', () => {
    // The types of this provider are not listed, so only the compiler refuses most of them.
    const receiver = createReceiver({ provider: providerOf<WideEvent>(), signingKey: KEY });
    // @ts-expect-error misspelt
    receiver.on('thing_0_0.creatd', () => {});
    // @ts-expect-error no such thing
    receiver.on('thing_11_0.*', () => {});
    // @ts-expect-error a type has no event below it
    receiver.on('thing_0_0.created.*', () => {});
    // @ts-expect-error a prefix ends at a dot
    expect(() => receiver.on('thing_0_*', () => {})).toThrow('is not a pattern');
    // @ts-expect-error one of two
    receiver.on(['thing_0_0.created', 'thing_0_0.creatd'], () => {});
    // @ts-expect-error a type of the default provider
    receiver.on('transfer.succeeded', () => {});
  });

  test('a handler of other events does not compile', () => {
    // @ts-expect-error another event
    create().on('thing_0_0.created', (_event: WideEventOf<'thing_0_0.deleted'>) => {});
    // @ts-expect-error an event of the default provider
    create().on('thing_0_0.created', (_event: KnownEvent) => {});
    create().on('thing_0_0.created', (_event: WideEvent) => {});
    create().on('thing_0_0.created', (_event: TypedEvent) => {});
  });

  test('PatternOf names all patterns', () => {
    expectTypeOf<'*' | 'thing_0_0.*' | 'thing_0_0.line.*'>().toExtend<PatternOf<WideEvent>>();
    expectTypeOf<'thing_0_0.line'>().not.toExtend<PatternOf<WideEvent>>();
    type Few = { type: 'push' } | { type: 'issues.opened' };
    expectTypeOf<PatternOf<Few>>().toEqualTypeOf<'*' | 'push' | 'issues.opened' | 'issues.*'>();
  });
});

describe('without a union of types', () => {
  interface Payload extends TypedEvent {
    readonly data: unknown;
  }

  test('a pattern is any text, and each event is the same', () => {
    const receiver = createReceiver({ provider: providerOf<Payload>(), signingKey: KEY });
    expectTypeOf(receiver).toEqualTypeOf<Receiver<NoSchemas, Payload>>();
    for (const pattern of ['push', 'a.*', '*'])
      receiver.on(pattern, (event) => expectTypeOf(event).toEqualTypeOf<Payload>());
    receiver.on(['push', 'a.b'], (event) => expectTypeOf(event).toEqualTypeOf<Payload>());
    expectTypeOf<PatternOf<Payload>>().toEqualTypeOf<string>();
    expectTypeOf(receiver.verify).returns.resolves.toEqualTypeOf<Payload>();
  });

  test('without any type of events: the type alone is known', () => {
    const provider: Provider = providerOf();
    createReceiver({ provider, signingKey: KEY }).on('push', (event) =>
      expectTypeOf(event).toEqualTypeOf<TypedEvent>(),
    );
  });

  test('the form of a pattern is checked when it is registered', () => {
    const receiver = createReceiver({ provider: providerOf<Payload>(), signingKey: KEY });
    expect(() => receiver.on('orders/create', () => {})).toThrow('Did you mean "orders.create"?');
  });
});

describe('schemas', () => {
  const object = z.object({ id: z.string() });

  test('of an entity that the union has compile, and of another one do not', () => {
    const provider = providerOf<WideEvent>(['thing_0_0.created', 'thing_0_1.created']);
    createReceiver({ provider, signingKey: KEY, schemas: { thing_0_0: object } });
    // @ts-expect-error the provider has no such entity
    const refused = () => createReceiver({ provider, signingKey: KEY, schemas: { thing: object } });
    expect(refused).toThrow('schemas.thing is not an entity; the entities are thing_0_0, thing_0_1');
  });

  test('of a provider without a list throw', () => {
    expect(() => createReceiver({ provider: wide, signingKey: KEY, schemas: { thing_0_0: object } })).toThrow(
      'schemas belongs to a provider with a list of types',
    );
    expect(() =>
      create()
        .on('*', () => {})
        .eventFilters(),
    ).toThrow('belongs to a provider with a list of types');
  });
});

describe('a receiver is of the type that its options say', () => {
  test('inferred, and written out', () => {
    expectTypeOf(create()).toEqualTypeOf<Receiver<NoSchemas, WideEvent>>();
    const receiver: Receiver<NoSchemas, WideEvent> = create();
    const options: ReceiverOptions<NoSchemas, WideEvent> = { provider: wide, signingKey: KEY };
    expectTypeOf(createReceiver(options)).toEqualTypeOf(receiver);
    expectTypeOf(receiver.on('*', () => {}).observe(() => {})).toEqualTypeOf<
      Receiver<NoSchemas, WideEvent>
    >();
  });

  test('without a provider, that of the default one', () => {
    const receiver = createReceiver({ signingKey: KEY });
    expectTypeOf(receiver).toEqualTypeOf<Receiver>();
    expectTypeOf(receiver).toEqualTypeOf<Receiver<NoSchemas, KnownEvent>>();
  });

  test('of another provider it is not one of the default one', () => {
    // @ts-expect-error its handlers get other events
    const receiver: Receiver = create();
    expect(receiver).toHaveProperty('on');
  });
});

/** Every public function that takes a receiver takes one of any provider; the bodies are never run. */
describe('public functions take a receiver of any provider', () => {
  const receivers = [
    (): Receiver<NoSchemas, WideEvent> => create(),
    () => createReceiver({ provider: providerOf<TypedEvent>(), signingKey: KEY }),
    () => createReceiver({ signingKey: KEY }),
  ] as const;

  test.each(receivers)('adapters', (open) => {
    const receiver = open();
    createServer(toNode(receiver, { path: '/webhooks' }));
    createServer(toHealth(receiver));
    express().use(toExpress(receiver, { path: '/webhooks' }));
    fastify().register(toFastify(receiver, { path: '/webhooks' }));
    new Koa().use(toKoa(receiver, { path: '/webhooks' }));
    expectTypeOf(toFetch(receiver)).toBeFunction();
    expectTypeOf(toLambda(receiver)).toBeFunction();
  });

  test.each(receivers)('observers', (open) => {
    const receiver = open();
    observeWithLogger(receiver, console);
    observeWithOpenTelemetry(receiver);
    observeWithPrometheus(receiver, { register: new Registry() });
    receiver.observe((report) => expectTypeOf(report).toEqualTypeOf<Report>());
  });

  test.each(receivers)('tests, workers, health and dead letters', (open) => {
    const receiver = open();
    const notRun = [
      () => deliver(receiver, {}, { key: KEY }),
      () => createBullWorker(receiver, { connection: {}, scope: 'test' }),
      () => receiverHealth(receiver, 'webhooks'),
      (letter: DeadLetter) => Promise.all([receiver.replay(letter), receiver.drop(letter)]),
    ];
    expect(notRun).toHaveLength(4);
    expectTypeOf(adapterConformance).toBeCallableWith(async () => ({ url: '', close: async () => {} }));
  });
});
