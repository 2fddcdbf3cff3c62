import { Injectable, type Provider, Scope } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import type { WebhookEvent } from 'posthorn';
import { OnWebhook, PosthornModule } from 'posthorn/nestjs';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { throwing } from '../support/throwing.ts';
import { options, send, start } from './application.ts';

/** A receiver with a name of its own, because all tests share the registry of decorated methods. */
function receiver(name: string, more: object = {}) {
  return PosthornModule.forRoot({ ...options, ...more, name });
}

/** A class with a handler for a receiver. */
function decorated(name: string, pattern = 'transfer.succeeded', more: object = {}) {
  @Injectable()
  class Payments {
    @OnWebhook(pattern as 'transfer.succeeded', { receiver: name, ...more })
    book(_event: WebhookEvent): void {}
  }
  return Payments;
}

/** What all modules of NestJS inherit. */
interface Modules {
  distance: unknown;
}

/** Returns the message of the error with which an application does not start. */
async function refusal(imports: unknown[], providers: Provider[] = []): Promise<string> {
  return start({ imports: imports as never, providers }).then(
    () => 'it started',
    (error: Error) => error.message,
  );
}

describe('an application does not start', () => {
  test('without any handler', async () => {
    expect(await refusal([receiver('empty')])).toMatch(/^the receiver of \/webhooks has no handler/);
  });

  test('with a class that nothing provides', async () => {
    const Payments = decorated('forgotten');
    expect(await refusal([receiver('forgotten')])).toMatch(
      /^NestJS has no provider for the class of @OnWebhook of Payments\.book, which would never run: add the class/,
    );
    expect(
      await send(
        await start({ imports: [receiver('forgotten')], providers: [Payments] }),
        'transfer.succeeded',
        'forgotten',
      ),
    ).toBe(200);
  });

  test('with a handler name twice', async () => {
    const more = { name: 'book' };
    const [First, Second] = [decorated('repeated', undefined, more), decorated('repeated', undefined, more)];
    expect(await refusal([receiver('repeated')], [First, Second])).toMatch(
      /^@OnWebhook of Payments\.book: .*"book"/,
    );
  });

  test('with a misspelt pattern', async () => {
    expect(await refusal([receiver('misspelt')], [decorated('misspelt', 'transfer.suceeded')])).toMatch(
      /^@OnWebhook of Payments\.book: .*transfer\.suceeded/,
    );
  });

  test('with a wrong pattern, at a second attempt too', async () => {
    const providers = [decorated('again'), decorated('again', 'transfer.suceeded')];
    const module = await Test.createTestingModule({ imports: [receiver('again')], providers }).compile();
    for (const _attempt of [1, 2]) await expect(module.init()).rejects.toThrow('transfer.suceeded');
  });

  test.each([
    [
      'have no distance',
      (modules: Modules) => vi.spyOn(modules, 'distance', 'get').mockReturnValue(undefined),
    ],
    ['keep their distance', (modules: Modules) => vi.spyOn(modules, 'distance', 'set').mockReturnValue()],
  ])('on a NestJS whose modules %s, which would close pools before the receiver', async (_title, change) => {
    const [module] = (await start({})).get(ModulesContainer).values();
    const spy = change(Object.getPrototypeOf(module));
    onTestFinished(() => void spy.mockRestore());
    expect(await refusal([receiver('unordered')], [decorated('unordered')])).toMatch(
      /^this version of @nestjs\/core does not let PosthornModule close before the modules whose connections/,
    );
  });

  test('with a factory that returns no worker', async () => {
    const worker = Reflect.apply(PosthornModule.forWorker, PosthornModule, [
      { name: 'idle', useFactory: () => {} },
    ]);
    expect(await refusal([receiver('idle'), worker], [decorated('idle')])).toBe(
      'useFactory of PosthornModule.forWorker must return a worker with close(), got undefined',
    );
  });

  test('with a queued handler, and no queue', async () => {
    const Payments = decorated('queueless', undefined, { name: 'book', queue: true });
    expect(await refusal([receiver('queueless')], [Payments])).toMatch(
      /^@OnWebhook of Payments\.book: .*queue/,
    );
  });

  test.each([Scope.REQUEST, Scope.TRANSIENT])('on a provider of the scope %s', async (scope) => {
    const Payments = decorated('scoped');
    expect(await refusal([receiver('scoped')], [{ provide: Payments, useClass: Payments, scope }])).toMatch(
      new RegExp(`^@OnWebhook of Payments\\.book is on a provider of the scope ${Scope[scope]}`),
    );
  });

  test('on a provider that injects one of the scope REQUEST', async () => {
    const Payments = decorated('scoped');
    const context = { provide: 'CONTEXT', useFactory: () => ({}), scope: Scope.REQUEST };
    const payments = { provide: Payments, useFactory: () => new Payments(), inject: ['CONTEXT'] };
    expect(await refusal([receiver('scoped')], [context, payments])).toMatch(/scope REQUEST/);
  });

  test('with a class that two modules provide', async () => {
    const Payments = decorated('double');
    class First {}
    class Second {}
    const modules = [First, Second].map((module) => ({ module, providers: [Payments] }));
    expect(await refusal([receiver('double'), ...modules])).toMatch(
      /Payments\.book is on the providers Payments of First and Payments of Second, and would run twice/,
    );
  });

  test('with a receiver that does not exist', async () => {
    const Payments = decorated('partner');
    const Others = decorated('partners');
    expect(await refusal([receiver('partners')], [Payments, Others])).toMatch(
      /^@OnWebhook of Payments\.book is for the receiver "partner", which the application does not have; it has "partners"/,
    );
  });

  test('with two receivers of one name, or of one path', async () => {
    expect(await refusal([receiver('twin'), receiver('twin', { path: '/other' })])).toMatch(
      /two receivers "twin"/,
    );
    expect(await refusal([receiver('one'), receiver('two', { path: '/webhooks/' })])).toMatch(
      /the receivers "one" and "two" have the path "\/webhooks"/,
    );
  });

  test('with a wrong option', async () => {
    expect(await refusal([receiver('wrong', { path: 'webhooks' })])).toMatch(/^path must begin with "\/"/);
    expect(() => receiver('wrong', { storee: 1 })).toThrow(
      '"storee" is not an option of PosthornModule.forRoot',
    );
  });

  test('with a class and its subclass, which both have the inherited handler', async () => {
    const Payments = decorated('family');
    class Special extends Payments {}
    expect(await refusal([receiver('family')], [Payments, Special])).toMatch(
      /^@OnWebhook of Payments\.book is on the providers Payments of \w+ and Special of \w+, and would run twice/,
    );
  });

  test('with options, or a worker, that depend on a provider of the scope REQUEST', async () => {
    const tenant = { provide: 'TENANT', useFactory: () => ({}), scope: Scope.REQUEST };
    const tenants = { module: class {}, providers: [tenant], exports: ['TENANT'] };
    const factory = { name: 'scoped', imports: [tenants], inject: ['TENANT'] };
    const message = /^the options of PosthornModule depend on a provider of the scope REQUEST/;
    const scoped = PosthornModule.forRootAsync({ ...factory, useFactory: () => options });
    expect(await refusal([scoped])).toMatch(message);
    expect(await refusal([scoped, receiver('static')], [decorated('static')])).toMatch(message);
    const worker = PosthornModule.forWorker({ ...factory, useFactory: () => ({ close: () => {} }) });
    expect(await refusal([receiver('scoped'), worker], [decorated('scoped')])).toMatch(message);
  });

  test('with the module, but without a receiver', async () => {
    expect(await refusal([PosthornModule])).toMatch(/^PosthornModule is imported without options/);
    const module = await start({
      imports: [receiver('imported'), PosthornModule],
      providers: [decorated('imported')],
    });
    expect(await send(module, 'transfer.succeeded', 'imported')).toBe(200);
  });
});

describe('an application starts', () => {
  test('with null in place of a class', async () => {
    const [Payments, Off] = [decorated('off'), decorated('off')];
    const off = { provide: Off, useFactory: () => null };
    const module = await start({ imports: [receiver('off')], providers: [Payments, off] });
    expect(await send(module, 'transfer.succeeded', 'off')).toBe(200);
  });

  test('without a class that is for the receiver of another application', async () => {
    decorated('elsewhere');
    const module = await start({ imports: [receiver('here')], providers: [decorated('here')] });
    expect(await send(module, 'transfer.succeeded', 'here')).toBe(200);
  });
});

describe('of the applications of a process', () => {
  /** A class that is declared again has another prototype. */
  const declare = (name: string) => decorated(name, 'transfer.succeeded');

  async function startsWith(name: string, Payments: new () => object): Promise<number> {
    const module = await start({ imports: [receiver(name)], providers: [Payments] });
    return send(module, 'transfer.succeeded', name);
  }

  test('only the first one after its import misses a class that it forgets', async () => {
    const Refunds = decorated('rest', 'transfer.failed');
    const Payments = declare('rest');
    expect(await refusal([receiver('rest')], [Payments])).toMatch(/no provider for .* Payments\.book,/);
    expect(await startsWith('rest', Payments)).toBe(200);
    await start({ imports: [receiver('rest')], providers: [Refunds] });
  });

  test.each([
    ['compiled, and never started', [], 'it started'],
    ['stopped by a provider', [{ useFactory: throwing('no database') }], 'no database'],
    ['stopped by a hook', [{ useValue: { onModuleInit: throwing('no table') } }], 'it started'],
  ])('one that was %s leaves nothing to the others', async (title, broken, message) => {
    const providers = [...broken.map((each) => ({ provide: 'BROKEN', ...each })), declare(title)];
    const compiled = Test.createTestingModule({ imports: [receiver(title)], providers }).compile();
    expect(
      await compiled.then(
        () => 'it started',
        ({ message }: Error) => message,
      ),
    ).toBe(message);
    if (message === 'it started' && broken.length > 0)
      await expect((await compiled).init()).rejects.toThrow('no table');
    const Refunds = decorated(title, 'transfer.failed');
    const Payments = declare(title);
    const module = await start({ imports: [receiver(title)], providers: [Payments, Refunds] });
    expect(await send(module, 'transfer.succeeded', title)).toBe(200);
  });

  test('one provides a class that was evaluated again, although nothing has its first declaration', async () => {
    declare('evaluated');
    expect(await startsWith('evaluated', declare('evaluated'))).toBe(200);
  });

  test('one that loads a class while it creates its providers provides it for all', async () => {
    const late = { provide: 'LATE', useFactory: () => new (decorated('late', 'transfer.failed'))() };
    const module = await start({ imports: [receiver('late')], providers: [late] });
    expect(await send(module, 'transfer.failed', 'late')).toBe(200);
    expect(await startsWith('late', declare('late'))).toBe(200);
  });
});
