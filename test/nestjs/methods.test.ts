import { Controller, Injectable, type OnModuleInit, type Provider } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import type { Receiver, WebhookEvent } from 'posthorn';
import {
  getReceiverToken,
  InjectReceiver,
  OnUnhandledWebhook,
  OnWebhook,
  PosthornModule,
} from 'posthorn/nestjs';
import { defer, type Observable, throwError } from 'rxjs';
import { expect, test, vi } from 'vitest';
import { options, send, start } from './application.ts';

const receiver = (name: string) => PosthornModule.forRoot({ ...options, name });

test('a method that a subclass overrides keeps its decorator, or gets the new one', async () => {
  const calls: string[] = [];
  abstract class Base {
    @OnWebhook('transfer.succeeded', { receiver: 'inherited' })
    kept(_event: WebhookEvent): void {
      calls.push('kept in Base');
    }

    @OnWebhook('transfer.succeeded', { receiver: 'inherited' })
    overridden(_event: WebhookEvent): void {
      calls.push('overridden in Base');
    }

    @OnWebhook('transfer.succeeded', { receiver: 'inherited' })
    decoratedAnew(_event: WebhookEvent): void {
      calls.push('decoratedAnew in Base');
    }
  }
  @Injectable()
  class Payments extends Base {
    override overridden(_event: WebhookEvent): void {
      calls.push('overridden');
    }

    @OnWebhook('transfer.failed', { receiver: 'inherited' })
    override decoratedAnew(_event: WebhookEvent): void {
      calls.push('decoratedAnew');
    }
  }
  const module = await start({ imports: [receiver('inherited')], providers: [Payments] });
  expect(await send(module, 'transfer.succeeded', 'inherited')).toBe(200);
  expect(calls.splice(0)).toEqual(['kept in Base', 'overridden']);
  expect(await send(module, 'transfer.failed', 'inherited')).toBe(200);
  expect(calls).toEqual(['decoratedAnew']);
});

test('a method with two decorators handles both patterns, with `this` in place', async () => {
  @Injectable()
  class Payments {
    readonly types: string[] = [];

    @OnWebhook('transfer.succeeded', { receiver: 'stacked' })
    @OnWebhook(['dispute.created', 'dispute.won'], { receiver: 'stacked' })
    note({ type }: WebhookEvent): void {
      this.types.push(type);
    }

    @OnUnhandledWebhook({ receiver: 'stacked' })
    rest({ type }: WebhookEvent, { known }: { known: boolean }): void {
      this.types.push(`${type} ${known}`);
    }
  }
  const module = await start({ imports: [receiver('stacked')], providers: [Payments] });
  for (const type of ['transfer.succeeded', 'dispute.won', 'transfer.failed', 'moon.risen'])
    expect(await send(module, type, 'stacked')).toBe(200);
  expect(module.get(Payments).types).toEqual([
    'transfer.succeeded',
    'dispute.won',
    'transfer.failed true',
    'moon.risen false',
  ]);
});

test('a controller, an alias and a factory may have handlers; each provider runs once', async () => {
  const calls: string[] = [];
  @Controller()
  class PaymentsController {
    @OnWebhook('*', { receiver: 'kinds' })
    see(_event: WebhookEvent): void {
      calls.push('controller');
    }
  }
  class Payments {
    @OnWebhook('*', { receiver: 'kinds' })
    see(_event: WebhookEvent): void {
      calls.push('factory');
    }
  }
  const module = await start({
    imports: [receiver('kinds')],
    controllers: [PaymentsController],
    providers: [
      { provide: 'payments', useFactory: async () => new Payments() },
      { provide: 'alias', useExisting: 'payments' },
      { provide: 'same', useFactory: (payments: Payments) => payments, inject: ['payments'] },
    ],
  });
  expect(await send(module, 'transfer.succeeded', 'kinds')).toBe(200);
  expect(calls.sort()).toEqual(['controller', 'factory']);
});

test('a stand-in of a test is called in place of the class, and must have the method', async () => {
  @Injectable()
  class Payments {
    @OnWebhook('*', { receiver: 'replaced' })
    book(_event: WebhookEvent): void {
      throw new Error('the class ran');
    }
  }
  const metadata = { imports: [receiver('replaced')], providers: [Payments] };
  const book = vi.fn();
  const module = await Test.createTestingModule(metadata)
    .overrideProvider(Payments)
    .useValue({ book })
    .compile();
  await module.init();
  expect(await send(module, 'transfer.succeeded', 'replaced')).toBe(200);
  expect(book).toHaveBeenCalledOnce();
  const incomplete = await Test.createTestingModule(metadata)
    .overrideProvider(Payments)
    .useValue({})
    .compile();
  await expect(incomplete.init()).rejects.toThrow(
    /^@OnWebhook of Payments\.book has been replaced by a provider without that method/,
  );
});

test('one stand-in may have the methods of two classes, and a class may stand in for another', async () => {
  const calls: string[] = [];
  const create = (name: string) => {
    class Payments {
      @OnWebhook('*', { receiver: 'replaced twice' })
      book(_event: WebhookEvent): void {
        calls.push(name);
      }
    }
    return Payments;
  };
  const [First, Second, Third, Fourth] = ['first', 'second', 'third', 'fourth'].map(create);
  const useValue = { book: () => calls.push('stand-in') };
  const module = await start({
    imports: [receiver('replaced twice')],
    providers: [
      { provide: First, useValue },
      { provide: Second, useValue },
      { provide: Third, useClass: Fourth },
    ] as Provider[],
  });
  expect(await send(module, 'transfer.succeeded', 'replaced twice')).toBe(200);
  expect(calls.sort()).toEqual(['fourth', 'stand-in', 'stand-in']);
});

test('a spy that comes after the start is called', async () => {
  @Injectable()
  class Payments {
    @OnWebhook('*', { receiver: 'spied' })
    book(_event: WebhookEvent): void {}
  }
  const module = await start({ imports: [receiver('spied')], providers: [Payments] });
  const spy = vi.spyOn(module.get(Payments), 'book');
  expect(await send(module, 'transfer.succeeded', 'spied')).toBe(200);
  expect(spy.mock.calls[0]?.[0]).toMatchObject({ type: 'transfer.succeeded' });
});

test('handlers can be registered by hand, in a constructor and in onModuleInit', async () => {
  const calls: string[] = [];
  @Injectable()
  class Payments implements OnModuleInit {
    private readonly receiver: Receiver;

    constructor(@InjectReceiver('by hand') receiver: Receiver) {
      this.receiver = receiver;
      receiver.on('*', () => calls.push('constructor'));
    }

    onModuleInit(): void {
      this.receiver.on('*', () => calls.push('onModuleInit'));
    }
  }
  const module = await start({ imports: [receiver('by hand')], providers: [Payments] });
  expect(await send(module, 'transfer.succeeded', 'by hand')).toBe(200);
  expect(calls).toEqual(['constructor', 'onModuleInit']);
});

test('the options of a handler reach the receiver, and no name is made up', async () => {
  const keys: unknown[] = [];
  @Injectable()
  class Payments {
    @OnWebhook('*', {
      receiver: 'optional',
      name: 'book',
      concurrencyKey: ({ data }) => {
        keys.push(data.id);
        return data.id;
      },
    })
    book(_event: WebhookEvent): void {}

    @OnWebhook('*', { receiver: 'optional' })
    see(_event: WebhookEvent): void {}
  }
  const module = await start({ imports: [receiver('optional')], providers: [Payments] });
  const handlers = new Promise((resolve) =>
    module.get<Receiver>(getReceiverToken('optional')).observe(({ handlers }) => resolve(handlers)),
  );
  expect(await send(module, 'transfer.succeeded', 'optional')).toBe(200);
  expect(await handlers).toMatchObject([{ name: undefined }, { name: 'book' }]);
  expect(keys).toEqual([expect.stringMatching(/^TR/)]);
});

test('an Observable that a method returns runs, and the event is handled once it completes', async () => {
  const calls: string[] = [];
  @Injectable()
  class Payments {
    @OnWebhook('transfer.succeeded', { receiver: 'observed' })
    book({ type }: WebhookEvent): Observable<number> {
      return defer(async () => calls.push(type));
    }

    @OnWebhook('transfer.failed', { receiver: 'observed' })
    async fail(_event: WebhookEvent): Promise<Observable<never>> {
      return throwError(() => new Error('no answer'));
    }
  }
  const module = await start({ imports: [receiver('observed')], providers: [Payments] });
  module.get<Receiver>(getReceiverToken('observed')).observe(() => {});
  expect(await send(module, 'transfer.succeeded', 'observed')).toBe(200);
  expect(calls).toEqual(['transfer.succeeded']);
  expect(await send(module, 'transfer.failed', 'observed')).toBe(500);
});

test('only a method can be decorated', () => {
  const decorate = OnWebhook('*');
  expect(() => decorate(class {}, 'create', { value: () => {} })).toThrow(
    /create is not on a method of an object/,
  );
  expect(() => Reflect.apply(decorate, undefined, [() => {}, { kind: 'method', name: 'book' }])).toThrow(
    /experimentalDecorators/,
  );
  // @ts-expect-error a generator function
  expect(() => decorate({}, 'iterate', { *value() {} })).toThrow(/iterate must not be a generator function/);
  expect(() => Reflect.apply(OnWebhook, undefined, ['*', { nmae: 'book' }])).toThrow(
    '"nmae" is not an option of @OnWebhook; its options are name, queue, concurrencyKey, receiver',
  );
});
